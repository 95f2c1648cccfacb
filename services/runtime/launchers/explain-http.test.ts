import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { explainNetworkError } from './explain-http.ts';

test('a port that speaks http, addressed by https, is explained in these words', async () => {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const error = await new Promise((resolve) => connect({ host: '127.0.0.1', port }).once('error', resolve));
  server.close();
  expect(explainNetworkError('tools.example:8080', error)).toEqual({
    code: 'not_tls',
    message: 'Cannot reach tools.example:8080: it speaks http, not https.',
    repair: 'Change the URL to http://, or to the port where it speaks https.',
  });
});
