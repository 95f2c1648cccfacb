import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAddressRule } from '../../kit/addresses/address-rule.ts';
import type { Reach } from '../http/guarded-fetch.ts';
import { fetchDocument } from './metadata-document.ts';

let folder: string;
let server: Server;
let source: Reach;
let answer: RequestListener;
let url: string;

/** The rule of this test takes the loopback address of its server for a public one. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-documents-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=agent.example', '-addext', 'subjectAltName=DNS:agent.example'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (request, response) =>
    answer(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  url = `https://agent.example:${address.port}/client.json`;
  source = {
    rule: (text) => (text === '127.0.0.1' ? null : createAddressRule([])(text)),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: await readFile(cert, 'utf8'),
  };
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

const document = { client_name: 'Agent', redirect_uris: ['http://localhost/callback'] };

test('a document becomes a public client that uses any port of its machine', async () => {
  const sent = { ...document, client_id: url, token_endpoint_auth_method: 'private_key_jwt', jwks: {} };
  answer = (_request, response) => response.setHeader('cache-control', 'max-age=90').end(JSON.stringify(sent));
  const got = await fetchDocument(url, source);
  expect([got.status, got.headers.get('cache-control')]).toEqual([200, 'max-age=90']);
  expect(await got.json()).toEqual({
    ...{ ...document, client_id: url, application_type: 'native', token_endpoint_auth_method: 'none' },
    ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
  });
});

test('a redirect is not followed', async () => {
  let asked = 0;
  answer = (_request, response) => {
    asked++;
    response.writeHead(302, { location: url }).end();
  };
  expect([(await fetchDocument(url, source)).status, asked]).toEqual([502, 1]);
});

test('a document above 5 KB is refused', async () => {
  answer = (_request, response) => response.end(JSON.stringify({ ...document, more: 'x'.repeat(6000) }));
  await expect(fetchDocument(url, source)).rejects.toThrow('larger than 5120 bytes');
});

test('a slow document is given up', async () => {
  answer = (_request, response) => response.write('{');
  const began = performance.now();
  await expect(fetchDocument(url, source)).rejects.toThrow('abort');
  expect(performance.now() - began).toBeLessThan(5000);
}, 10_000);

test.each(['["a list"]', '{}', 'no JSON'])('%s is no document', async (text) => {
  answer = (_request, response) => response.end(text);
  await expect(fetchDocument(url, source)).rejects.toThrow();
});

test.each([
  ...['https://127.0.0.1/x', 'https://[::1]/x', 'https://169.254.169.254/x', 'https://10.0.0.1/x'],
  // Other forms of an address, and forms of IPv6 that contain one of IPv4.
  ...['https://2130706433/x', 'https://0x7f.1/x', 'https://0177.0.0.1/x', 'https://127.1/x', 'https://0.0.0.0/x'],
  ...['https://[::ffff:127.0.0.1]/x', 'https://[::127.0.0.1]/x', 'https://[64:ff9b::7f00:1]/x', 'https://[::]/x'],
  ...['https://[2002:7f00:1::]/x', 'https://[2001:0:7f00:1::]/x', 'https://[fd00::1]/x', 'https://[fe80::1]/x'],
  ...['https://100.64.0.1/x', 'https://198.18.0.1/x', 'https://224.0.0.1/x', 'https://255.255.255.255/x'],
])('nothing is fetched from %s', async (address) => {
  await expect(fetchDocument(address)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
});

test('a name with a private address is refused before a connection', async () => {
  let asked = 0;
  answer = (_request, response) => {
    asked++;
    response.end();
  };
  const strict = { ...source, rule: createAddressRule([]) };
  await expect(fetchDocument(url, strict)).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  expect(asked).toBe(0);
});

test('only https is fetched', async () => {
  await expect(fetchDocument('http://agent.example/client.json')).rejects.toThrow('https');
});
