import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAddressRule } from '../../kit/addresses/address-rule.ts';
import { fetchDocument } from '../oauth/metadata-document.ts';
import { createGuardedFetch, type Reach } from './guarded-fetch.ts';

/**
 * A stranger who owns a name chooses the addresses that it resolves to, at each query. Whatever they are, no connection
 * goes inside. `outside` stands for a public address; both addresses answer under the same name and port.
 */
const outside = '127.0.0.2';
const inside = '127.0.0.1';
/** Allowed like `outside`, and without a server. */
const unanswered = '127.0.0.3';
const name = 'agent.example';

let folder: string;
let ca: string;
let url: string;
const servers: Server[] = [];
const asked: string[] = [];
/** Where `outside` sends its clients. */
let location: string | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-rebinding-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:${inside}`];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  ca = await readFile(cert, 'utf8');
  const port = await listen(outside, 0, { key: await readFile(key), cert: ca });
  await listen(inside, port, { key: await readFile(key), cert: ca });
  url = `https://${name}:${port}/client.json`;
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  asked.length = 0;
  location = null;
});

async function listen(address: string, port: number, options: ServerOptions): Promise<number> {
  const document = JSON.stringify({ client_name: 'Agent', redirect_uris: ['http://localhost/callback'] });
  const server = createServer(options, (_request, response) => {
    asked.push(address);
    if (location === null) response.end(document);
    else response.writeHead(302, { location }).end();
  }).listen(port, address);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The addresses of the name: of the first query, the second, and so on. */
function reachOf(...answers: readonly (readonly string[])[]): Reach {
  const left = [...answers];
  const strict = createAddressRule([]);
  return {
    rule: (address) => (address === outside || address === unanswered ? null : strict(address)),
    resolve: async () => (left.shift() ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ca,
  };
}

const get = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
const refused = { code: 'ERR_ADDRESS_REFUSED' };

describe.each<[string, (reach: Reach) => () => Promise<Response>]>([
  ['a document of an agent', (reach) => () => fetchDocument(url, reach)],
  [
    'an integration',
    (reach) => {
      const fetch = createGuardedFetch(reach);
      return () => fetch(url, get);
    },
  ],
])('a request for %s', (_for, requestsTo) => {
  test.each([inside, '169.254.169.254', '10.0.0.1', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe'])(
    'goes to no name that was outside and now is at %s',
    async (address) => {
      const ask = requestsTo(reachOf([outside], [address]));
      expect((await ask()).status).toBe(200);
      await expect(ask()).rejects.toMatchObject(refused);
      expect(asked).toEqual([outside]);
    },
  );

  test('goes only outside where a name is in both places', async () => {
    for (const both of [
      [inside, outside],
      [outside, inside],
      ['::ffff:127.0.0.1', outside, '169.254.169.254'],
    ]) {
      expect((await requestsTo(reachOf(both))()).status).toBe(200);
    }
    expect(asked).toEqual([outside, outside, outside]);
  });

  test('does not go inside when the address outside does not answer', async () => {
    await expect(requestsTo(reachOf([unanswered, inside], [inside]))()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(asked).toEqual([]);
  });

  test.each(['', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '127.0.0.1%lo', '::1%lo', '127.0.0.1 '])(
    'takes an answer of DNS that is no address for none: %j',
    async (answer) => {
      await expect(requestsTo(reachOf([answer], [inside]))()).rejects.toMatchObject(refused);
      expect(asked).toEqual([]);
    },
  );

  test('does not follow a redirect, neither to an address inside nor to its own name', async () => {
    const { port } = new URL(url);
    for (const to of [`https://${inside}:${port}/`, url, `http://${inside}:${port}/`, 'http://169.254.169.254/']) {
      location = to;
      await requestsTo(reachOf([outside], [inside]))();
    }
    expect(asked).toEqual([outside, outside, outside, outside]);
  });
});
