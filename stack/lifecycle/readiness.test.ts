import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { readReadiness } from './readiness.ts';

const wrote = 'JetStream stream "usage" write error: write 1.blk: no space left on device';

test.each([
  ['what it misses', { missing: ['a', 'b'] }, 'a, b'],
  ['its error', { status: 'unavailable', error: 'JetStream is not current' }, 'JetStream is not current'],
  [
    'a full disk',
    { status: 'unavailable', error: wrote },
    `Its disk is full (${wrote}). Free some space, then run svc up, which restarts it.`,
  ],
])('a service that is not ready reports %s', async (_what, body, missing) => {
  const server = createServer((_, answer) => answer.writeHead(503).end(JSON.stringify(body)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const found = await readReadiness({ kind: 'http', url: `http://127.0.0.1:${port}/healthz` });
  expect(found).toEqual({ ready: false, missing });
  server.close();
});
