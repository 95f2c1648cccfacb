import { once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cataloguePath, internalFilesPath } from '../../../services/contracts/catalogue.ts';
import { frontProofHeader } from '../../../services/contracts/front-proof.ts';
import { accountPath, graphqlPath, jwksPath } from '../../../services/contracts/token.ts';
import { until } from '../../test/until.ts';
import { ask, send, type TestRequest } from './ask.ts';
import { frontProof, hasCaddy, host, keysHost, openFront } from './running-caddy.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const rows: readonly [path: string, service: string][] = [
  ['/mcp', 'remote-mcp'],
  ['/mcp?skillIds=a,b', 'remote-mcp'],
  ['/health', 'remote-mcp'],
  ['/.well-known/oauth-protected-resource', 'remote-mcp'],
  ['/.well-known/oauth-protected-resource/mcp', 'remote-mcp'],
  [graphqlPath, 'backend'],
  [`${graphqlPath}?a=b`, 'backend'],
  [`${accountPath}/link`, 'backend'],
  [`${accountPath}/provider/callback?code=a%2Fb`, 'backend'],
  [jwksPath, 'backend'],
  ['/.well-known/oauth-authorization-server', 'backend'],
  ['/oauth/client.json', 'backend'],
  ['/oauth/callback', 'frontend'],
  ['/oauth/callback?code=a%2Fb', 'frontend'],
  [`/files/${'0af'.repeat(21)}1?ticket=a.b.c`, 'backend'],
  ['/', 'frontend'],
  ['/assets/page-abc.js', 'frontend'],
  ['/skills/abc?tab=tools', 'frontend'],
];

/** Internal paths of services, and encodings that might lead to them. */
const closed = [
  `${cataloguePath}/w`,
  `${cataloguePath}/..%2f..%2fgraphql`,
  `${cataloguePath}/..%2f..%2f..%2foauth/callback`,
  `${cataloguePath}/../../graphql`,
  `${cataloguePath}/%2e%2e/%2e%2e/mcp`,
  `/INTERNAL/catalogue/w`,
  `/%69nternal/catalogue/w`,
  `//internal/catalogue/w`,
  `${internalFilesPath}/w/f`,
  `/files/..%2finternal%2ffiles/w/f`,
  '/files/../internal/files/w/f',
  '/metrics',
  '/mcp/../metrics',
  '/mcpx',
  '/mcp%2fx',
  '/graphqlx',
  '/ready/',
  '/readyx',
];

describe.skipIf(!hasCaddy)('through Caddy', () => {
  test('the backend learns the client of a trusted proxy, and of no other', async () => {
    await using front = await openFront(
      `public: { host: ${host}, httpPort: auto }\ntrustedProxies: [127.0.0.2, 198.51.100.0/24]`,
    );
    const seen = async (localAddress: string, forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded };
      const port = Number(new URL(front.url).port);
      const { body } = await ask({ path: graphqlPath, host, port, ca: null, localAddress, headers });
      return JSON.parse(body).headers['x-forwarded-for'];
    };
    expect(await seen('127.0.0.2', '192.0.2.66, 198.51.100.1')).toBe('192.0.2.66, 198.51.100.1, 127.0.0.2');
    expect(await seen('127.0.0.3', '192.0.2.66')).toBe('127.0.0.3');
  });

  test('the backend alone gets the proof of the proxy, in place of what a client sends', async () => {
    await using front = await openFront(`public: { host: ${host}, httpPort: auto }`);
    const port = Number(new URL(front.url).port);
    const seenAt = async (path: string, forged: string) => {
      const { body } = await ask({ path, host, port, ca: null, headers: { [frontProofHeader]: forged } });
      return JSON.parse(body).headers[frontProofHeader];
    };
    for (const path of [graphqlPath, `${accountPath}/link`]) expect(await seenAt(path, 'forged')).toBe(frontProof);
    expect(await seenAt('/mcp', 'forged')).toBe('forged');
  });

  type Front = Awaited<ReturnType<typeof openFront>>;
  let fronts: Readonly<Record<'files' | 'none', Front>>;
  const open = (tls: string) =>
    openFront(
      `public: { host: ${host}, ${tls}, httpPort: auto, httpsPort: auto }\npublicUrls: { keys: "https://${keysHost}/mcp" }`,
    );
  beforeAll(async () => {
    fronts = { files: await open('tls: files, cert: own.pem, key: own.key'), none: await open('tls: none') };
  });
  afterAll(() => Promise.all(Object.values(fronts).map((front) => front[Symbol.asyncDispose]())));

  describe.each(['files', 'none'] as const)('under one host name, tls: %s', (tls) => {
    let front: Front;
    beforeAll(() => {
      front = fronts[tls];
    });
    const to = (path: string, more?: Partial<TestRequest>) => {
      const { ca, url } = front;
      return { path, host, port: Number(new URL(url).port), ca: tls === 'none' ? null : ca, ...more };
    };

    test.each(rows)('%s goes to %s, unchanged', async (path, service) => {
      const { status, body } = await ask(to(path, { method: 'POST', body: '{}' }));
      const seen = JSON.parse(body);
      expect([status, seen]).toMatchObject([200, { name: service, url: path, method: 'POST', length: 2 }]);
    });

    test.each(closed)('%s goes to the frontend only', async (path) => {
      const { body } = await ask(to(path));
      expect(JSON.parse(body)).toMatchObject({ name: 'frontend', url: path });
    });

    test('/ready reports the state without the reason', async () => {
      const ready = { status: 200, body: '{"status":"ready"}', headers: { 'cache-control': 'no-store' } };
      expect(await ask(to('/ready'))).toMatchObject(ready);
      front.get('backend').isReady = false;
      expect(await ask(to('/ready?verbose'))).toMatchObject({ status: 503, body: '{"status":"not ready"}' });
      front.get('backend').isReady = true;
    });

    test('a service that is not ready is named, and the others answer', async () => {
      front.get('backend').isReady = false;
      await until(async () => (await ask(to(graphqlPath))).status === 503);
      const { headers, body } = await ask(to(graphqlPath));
      expect(headers['retry-after']).toBe('1');
      const message = 'No backend is ready. The request was not carried out.';
      expect(JSON.parse(body).error).toMatchObject({ code: 'unavailable', message });
      expect((await ask(to('/mcp'))).status).toBe(200);
      front.get('backend').isReady = true;
      await until(async () => (await ask(to(graphqlPath))).status === 200);
    });

    test("an agent's headers arrive unchanged, except that only the proxy sets its address", async () => {
      const agentHeaders = {
        origin: 'https://app.example.com',
        authorization: 'Bearer SVA_x',
        'mcp-session-id': 'abc',
        'mcp-protocol-version': '2025-11-25',
        accept: 'application/json, text/event-stream',
      };
      const forged = { 'x-forwarded-for': '192.0.2.66', 'x-forwarded-host': 'evil.example.com' };
      const { body, headers } = await ask(to('/mcp', { headers: { ...agentHeaders, ...forged } }));
      const named = `${host}:${to('/').port}`;
      expect(JSON.parse(body).headers).toMatchObject({
        ...{ ...agentHeaders, host: named, 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': named },
        'x-forwarded-proto': tls === 'none' ? 'http' : 'https',
      });
      expect([headers.server, headers.via]).toEqual([undefined, undefined]);
      expect(headers['strict-transport-security']).toBe(tls === 'none' ? undefined : 'max-age=31536000');
    });

    test("another host name is answered with the platform's own", async () => {
      const { status, body } = await ask(to('/mcp', { headers: { host: `evil.example.com:${to('/').port}` } }));
      expect(status).toBe(421);
      const hint = `The platform is at ${front.origin}.`;
      expect(JSON.parse(body).error).toMatchObject({ code: 'not_found', hint });
    });

    test.each(['/mcp', '/mcp?skillIds=a,b', '/health'])('at the name for keys, %s goes to remote-mcp', async (path) => {
      const headers = { authorization: 'Bearer SVA_x' };
      const { status, body } = await ask({ ...to(path), host: keysHost, method: 'POST', body: '{}', headers });
      const seen = JSON.parse(body);
      expect([status, seen]).toMatchObject([200, { name: 'remote-mcp', url: path, length: 2 }]);
      expect(seen.headers).toMatchObject({ ...headers, host: `${keysHost}:${to('/').port}` });
    });

    const elsewhere = rows.map(([path]) => path).filter((path) => !/^\/(mcp|health)/.test(path));
    test.each([...elsewhere, ...closed, '/connect/authorize'])('at the name for keys, %s is closed', async (path) => {
      const { status, body, headers } = await ask({ ...to(path), host: keysHost });
      expect([status, JSON.parse(body).error, headers.location, headers.server]).toMatchObject([
        ...[404, { code: 'not_found', message: 'Only /mcp is here, for agents with an API key.' }],
        ...[undefined, undefined],
      ]);
    });

    test('a body of 4 MiB passes', async () => {
      const length = 4 * 1024 * 1024;
      const { body } = await ask(to(graphqlPath, { method: 'POST', body: 'x'.repeat(length) }));
      expect(JSON.parse(body)).toMatchObject({ length });
    });

    test('it reports its own readiness, under the address of this machine', async () => {
      const port = front.ports['caddy-http'] ?? 0;
      const answer = await ask({ host: '127.0.0.1', path: '/ready', port, ca: null });
      expect(answer).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    });

    test("events pass at once, and the end of a client's stream or call is passed on", async () => {
      const mcp = front.get('remote-mcp');
      const { answer, count } = mcp;
      onTestFinished(() => {
        mcp.answer = answer;
      });
      const left: unknown[] = [];
      mcp.answer = (request, response) => {
        response.once('close', () => left.push(request.method));
        if (request.method === 'POST') request.resume();
        else response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
      };
      const stream = send(to('/mcp'));
      const [response] = await once(stream, 'response');
      expect(String(await once(response, 'data'))).toBe('data: first\n\n');
      const call = send(to('/mcp', { method: 'POST', body: '{}' })).once('error', () => undefined);
      await until(() => mcp.count === count + 2);
      expect(left).toEqual([]);
      for (const request of [stream, call]) request.destroy();
      await until(() => left.length === 2);
    });

    test('a WebSocket passes in both directions', async () => {
      front.get('backend').server.once('upgrade', (_request, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n');
        socket.on('data', (chunk: Buffer) => socket.write(`heard ${chunk}`));
        socket.on('end', () => socket.end());
        socket.on('error', () => undefined);
      });
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'graphql-transport-ws',
      };
      const [, socket] = await once(send(to(graphqlPath, { headers })), 'upgrade');
      socket.write('hello');
      expect(String(await once(socket, 'data'))).toBe('heard hello');
      socket.destroy();
    });
  });

  describe('over TLS', () => {
    async function shake(options: ConnectionOptions): Promise<string> {
      const { ca, ports } = fronts.files;
      const socket = connect({ host: '127.0.0.1', port: ports['caddy-https'] ?? 0, ca, ...options });
      try {
        await once(socket, 'secureConnect');
        return `${socket.getProtocol()} ${socket.alpnProtocol}`;
      } catch (error) {
        return String(error);
      } finally {
        socket.destroy();
      }
    }

    test('versions from 1.2 on are supported', async () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
      expect(await shake({ ...old, servername: host })).toMatch(/alert protocol version/);
      expect(await shake({ maxVersion: 'TLSv1.2', servername: host })).toMatch(/^TLSv1\.2/);
      expect(await shake({ servername: host, ALPNProtocols: ['h2', 'http/1.1'] })).toBe('TLSv1.3 http/1.1');
    });

    test.each([
      ['another host name', 'evil.example.com'],
      ['none', ''],
    ])('%s gets no certificate', async (_, servername) => {
      expect(await shake({ rejectUnauthorized: false, servername })).toMatch(/alert/);
    });

    test('requests without it are redirected there', async () => {
      const { ports, origin } = fronts.files;
      const plain = { host, port: ports['caddy-http'] ?? 0, ca: null };
      const { status, headers } = await ask({ path: '/skills/abc?tab=a%2Fb', ...plain });
      expect([status, headers.location]).toEqual([308, `${origin}/skills/abc?tab=a%2Fb`]);
      const ofKeys = await ask({ path: '/mcp', ...plain, host: keysHost });
      expect([ofKeys.status, ofKeys.headers.location]).toEqual([308, `https://${keysHost}/mcp`]);
      const other = await ask({ path: '/mcp', method: 'POST', ...plain, headers: { host: 'evil.example.com' } });
      expect([other.status, other.headers.location]).toEqual([308, `${origin}/mcp`]);
    });
  });
});
