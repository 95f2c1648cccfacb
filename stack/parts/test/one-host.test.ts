import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cataloguePath, internalFilesPath } from '../../../services/contracts/catalogue.ts';
import { graphqlPath, jwksPath } from '../../../services/contracts/token.ts';
import { until } from '../../test/until.ts';
import { ask, send, type TestRequest } from './ask.ts';
import { type Answer, echo, hasCaddy, host, openOneHost } from './running-caddy.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const rows: readonly [path: string, service: string][] = [
  ['/mcp', 'remote-mcp'],
  ['/mcp?skillIds=a,b', 'remote-mcp'],
  ['/health', 'remote-mcp'],
  ['/.well-known/oauth-protected-resource', 'remote-mcp'],
  ['/.well-known/oauth-protected-resource/mcp', 'remote-mcp'],
  [graphqlPath, 'backend'],
  [`${graphqlPath}?a=b`, 'backend'],
  [jwksPath, 'backend'],
  ['/.well-known/oauth-authorization-server', 'backend'],
  ['/oauth/callback', 'backend'],
  ['/oauth/callback?code=a%2Fb', 'backend'],
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
  for (const tls of ['files', 'none'] as const) {
    describe(`under one host name, tls: ${tls}`, () => {
      let front: Awaited<ReturnType<typeof openOneHost>>;
      const to = (path: string, more?: Partial<TestRequest>) => ({ path, ...front.where, ...more });
      beforeAll(async () => {
        front = await openOneHost(tls, echo);
      });
      afterAll(() => front[Symbol.asyncDispose]());

      test.each(rows)('%s goes to %s, unchanged', async (path, service) => {
        const { status, body } = await ask(to(path, { method: 'POST', body: '{}' }));
        expect([status, JSON.parse(body)]).toMatchObject([
          200,
          { name: service, url: path, method: 'POST', length: 2 },
        ]);
      });

      test.each(closed)('%s goes to the frontend only', async (path) => {
        const { body } = await ask(to(path));
        expect(JSON.parse(body)).toMatchObject({ name: 'frontend', url: path });
      });

      test('/ready reports the state without the reason', async () => {
        const first = await ask(to('/ready'));
        expect([first.status, first.body, first.headers['cache-control']]).toEqual([
          200,
          '{"status":"ready"}',
          'no-store',
        ]);
        front.get('backend').isReady = false;
        const { status, body } = await ask(to('/ready?verbose'));
        expect([status, body]).toEqual([503, '{"status":"not ready"}']);
        front.get('backend').isReady = true;
      });

      test('a service that is not ready is named, and the others answer', async () => {
        front.get('backend').isReady = false;
        await until(async () => (await ask(to(graphqlPath))).status === 503);
        const { headers, body } = await ask(to(graphqlPath));
        expect(headers['retry-after']).toBe('1');
        expect(JSON.parse(body)).toEqual({
          error: {
            code: 'unavailable',
            message: 'No backend is ready. The request was not carried out.',
            hint: 'svc status says why; send it again once one is.',
          },
        });
        expect((await ask(to('/mcp'))).status).toBe(200);
        front.get('backend').isReady = true;
        await until(async () => (await ask(to(graphqlPath))).status === 200);
      });

      test("only the proxy sets a client's address", async () => {
        const forged = { 'x-forwarded-for': '192.0.2.66', 'x-forwarded-host': 'evil.example.com' };
        const { body, headers } = await ask(to('/mcp', { headers: forged }));
        expect(JSON.parse(body).headers).toMatchObject({
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-host': front.origin.replace(/^.*\/\//, ''),
          'x-forwarded-proto': tls === 'none' ? 'http' : 'https',
        });
        expect([headers.server, headers.via]).toEqual([undefined, undefined]);
        expect(headers['strict-transport-security']).toBe(tls === 'none' ? undefined : 'max-age=31536000');
      });

      test("another host name is answered with the platform's own", async () => {
        const { port } = to('/');
        const { status, body } = await ask(to('/mcp', { headers: { host: `evil.example.com:${port}` } }));
        expect(status).toBe(421);
        expect(JSON.parse(body).error).toMatchObject({
          code: 'not_found',
          hint: `The platform is at ${front.origin}.`,
        });
      });

      test('a body of 4 MiB passes', async () => {
        const length = 4 * 1024 * 1024;
        const { body } = await ask(to(graphqlPath, { method: 'POST', body: 'x'.repeat(length) }));
        expect(JSON.parse(body)).toMatchObject({ length });
      });

      test('it reports its own readiness, under the address of this machine', async () => {
        const { status, body } = await ask({ host: '127.0.0.1', path: '/ready', port: front.httpPort, ca: null });
        expect([status, body]).toEqual([200, '{"status":"ready"}']);
      });
    });
  }

  test.each(['files', 'none'] as const)("events pass at once and a client's end is passed on, tls: %s", async (tls) => {
    let hasLeft = false;
    const stream: Answer = (_, response) => {
      response.once('close', () => {
        hasLeft = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
    };
    await using front = await openOneHost(tls, () => stream);
    const sent = send({ path: '/mcp', ...front.where });
    const text = await new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => response.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    });
    expect([text, hasLeft]).toEqual(['data: first\n\n', false]);
    sent.destroy();
    await until(() => hasLeft);
  });

  test.each(['files', 'none'] as const)('a WebSocket passes in both directions, tls: %s', async (tls) => {
    await using front = await openOneHost(tls, echo);
    front.get('backend').server.on('upgrade', (_request, socket) => {
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
    const sent = send({ path: graphqlPath, headers, ...front.where });
    const heard = await new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', ({ statusCode }) => reject(new Error(`answered ${statusCode}`)));
      sent.once('upgrade', (_response, socket) => {
        socket.once('data', (chunk: Buffer) => {
          resolve(chunk.toString());
          socket.destroy();
        });
        socket.write('hello');
      });
    });
    expect(heard).toBe('heard hello');
  });

  describe('over TLS', () => {
    let front: Awaited<ReturnType<typeof openOneHost>>;
    beforeAll(async () => {
      front = await openOneHost('files', echo);
    });
    afterAll(() => front[Symbol.asyncDispose]());

    const shake = (options: object) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: front.httpsPort, ca: front.ca, ...options });
        socket.once('secureConnect', () => resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`));
        socket.once('error', ({ message }) => resolve(message));
        socket.once('close', () => resolve('closed'));
      });

    test('versions from 1.2 on are supported', async () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0', servername: host };
      expect(await shake(old)).toMatch(/alert protocol version/);
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
      const plain = { host, port: front.httpPort, ca: null };
      const { status, headers } = await ask({ path: '/skills/abc?tab=a%2Fb', ...plain });
      expect([status, headers.location]).toEqual([308, `${front.origin}/skills/abc?tab=a%2Fb`]);
      const other = await ask({ path: '/mcp', method: 'POST', ...plain, headers: { host: 'evil.example.com' } });
      expect([other.status, other.headers.location]).toEqual([308, `${front.origin}/mcp`]);
    });
  });
});
