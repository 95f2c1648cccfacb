import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { parseAddressBlock } from '../../contracts/address-block.ts';
import { AddressRefused } from '../../kit/addresses/address-refused.ts';
import { createAddressRule } from '../../kit/addresses/address-rule.ts';
import { resolveByDns } from '../../kit/addresses/resolve-by-dns.ts';
import { createGuardedFetch, type GuardedFetch, within } from './guarded-fetch.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function answering(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fetchTo(...blocks: readonly string[]): GuardedFetch {
  const allowed = blocks.map(parseAddressBlock).filter((block) => block !== null);
  return createGuardedFetch({ rule: createAddressRule(allowed), resolve: resolveByDns });
}
const fetch = fetchTo('127.0.0.0/8');
const get = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;

describe('a request to a stranger', () => {
  test('is sent as it is, and its answer has the known headers only', async () => {
    const seen: string[] = [];
    const url = await answering(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      seen.push(`${request.method} ${request.headers['content-length']} ${body}`);
      response.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('made');
    });
    const response = await fetch(url, { ...get, method: 'POST', body: 'grant=é' });
    expect([response.status, await response.text(), [...response.headers]]).toEqual([
      ...[201, 'made'],
      [['content-type', 'text/plain']],
    ]);
    expect(seen).toEqual(['POST 8 grant=é']);
  });

  test('follows no redirect', async () => {
    let asked = 0;
    const url = await answering((_request, response) => {
      asked += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect([(await fetch(url, get)).status, asked]).toEqual([302, 1]);
  });

  test('ends at an answer that is too large, and at one that is cut off', async () => {
    const large = await answering((_request, response) => void response.end('x'.repeat(200_000)));
    await expect(fetch(large, get)).rejects.toThrow(/larger than/);
    const cutOff = await answering((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('x');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(fetch(cutOff, get)).rejects.toThrow();
  });

  test('ends with the others after the time of all', async () => {
    const silent = await answering(() => undefined);
    const soon = within(fetch, 200);
    const before = performance.now();
    const both = await Promise.allSettled([soon(silent, get), soon(silent, get)]);
    await expect(soon(silent, get)).rejects.toThrow();
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(performance.now() - before).toBeLessThan(2000);
  });

  test.each(['http://10.0.0.1/', 'http://provider.example/', 'ftp://127.0.0.1/', 'file:///etc/passwd'])(
    'is by https: %s',
    async (url) => {
      await expect(fetch(url, get)).rejects.toThrow('the address is not https');
    },
  );

  test.each(['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/'])(
    'never goes to %s',
    async (url) => {
      await expect(fetch(url, get)).rejects.toBeInstanceOf(AddressRefused);
    },
  );

  test('never goes to a name of an address that is not allowed', async () => {
    const url = await answering((_request, response) => void response.end());
    const { port } = new URL(url);
    await expect(fetchTo()(`http://localhost:${port}/`, get)).rejects.toBeInstanceOf(AddressRefused);
    await expect(fetchTo()(url, get)).rejects.toBeInstanceOf(AddressRefused);
  });
});
