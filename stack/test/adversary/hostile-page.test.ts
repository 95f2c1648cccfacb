import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSession, ping } from '../../../services/remote-mcp/test/raw.ts';
import { mintOperatorToken } from '../../client/operator-token.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import type { Topology } from '../../settings/choices.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { onEachTopology } from './on-each-topology.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * A web page of another origin, opened in the browser of somebody who can reach the platform. The page sends what browsers let pages send; it has no
 * key and no token, except where a row says that the browser would send one. It must read nothing, change nothing and frame nothing.
 */
let platform: Platform;
let key: string;
let session: string;
let token: string;

async function start(topology: Topology): Promise<void> {
  platform = await Platform.start({ topology });
  key = await platform.addKey('agent');
  session = await openSession(platform.mcpUrl, key);
  const privateKey = readSecret(secretFilesOf(platform.installation).jwtPrivateKey);
  token = mintOperatorToken({ privateKey, issuer: 'service-platform', nowMs: Date.now() });
}

const evil = 'https://evil.example';
/** A name of the attacker's that leads to this machine. */
const rebound = 'evil.example';

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Listener = 'backend' | 'remote-mcp' | 'frontend';

async function ask(listener: Listener, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const asked = request({ host: '127.0.0.1', port: platform.ports[listener], path, method, headers, agent: false });
  asked.end(body);
  const answered = Promise.race([once(asked, 'response'), once(asked, 'upgrade')]);
  const [response] = (await answered) as [IncomingMessage];
  const { statusCode: status = 0, headers: got } = response;
  return { status, headers: got, body: status === 101 ? '' : await text(response) };
}

const mutation = 'mutation { createWorkspace(input: { name: "Stolen", ownerEmail: "x@evil.example" }) { id } }';
const inBody = JSON.stringify({ query: mutation });
const inAddress = `query=${encodeURIComponent(mutation)}`;
const post = (type: string, body: string): Asked => ({ method: 'POST', headers: { 'content-type': type }, body });

onEachTopology((topology) => {
  beforeAll(() => start(topology), startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  describe('a request that browsers send without asking', () => {
    /** By CORS a page may send these to anybody; what it must not get is an effect. */
    test.each<[string, Listener, string, Asked, number]>([
      ['a message as text', 'remote-mcp', '/mcp', post('text/plain', JSON.stringify(ping)), 401],
      ['the end of a session', 'remote-mcp', '/mcp', { method: 'DELETE' }, 401],
      ['a stream', 'remote-mcp', '/mcp', { headers: { accept: 'text/event-stream' } }, 401],
      ['a mutation as text', 'backend', '/graphql', post('text/plain', inBody), 401],
      ['a mutation as a form', 'backend', '/graphql', post('application/x-www-form-urlencoded', inAddress), 401],
      ['a mutation as a file', 'backend', '/graphql', post('multipart/form-data; boundary=x', '--x--'), 401],
      ['a mutation as an address', 'backend', `/graphql?${inAddress}`, {}, 404],
      ['a catalogue', 'backend', '/internal/catalogue/w0', {}, 401],
      ['a file without a ticket', 'backend', `/files/${'0'.repeat(64)}`, {}, 403],
    ])('%s', async (_, listener, path, asked, status) => {
      const sent = { ...asked, headers: { origin: evil, cookie: `token=${token}; key=${key}`, ...asked.headers } };
      const answer = await ask(listener, path, sent);
      expect(answer.status).toBe(status);
      expect(answer.headers['access-control-allow-origin']).toBe(undefined);
    });

    test.each([
      [415, {}],
      [403, { origin: evil }],
    ])('a mutation as text has no effect with a token either: %i', async (status, origin) => {
      const { headers, ...asked } = post('text/plain', inBody);
      const sent = { ...asked, headers: { ...headers, authorization: `Bearer ${token}`, ...origin } };
      expect((await ask('backend', '/graphql', sent)).status).toBe(status);
    });

    test.each([evil, 'null', `http://${rebound}`])(
      'a message with a good key is refused because of its origin, %s',
      async (origin) => {
        const { headers, ...asked } = post('application/json', JSON.stringify(ping));
        const own = { authorization: `Bearer ${key}`, 'mcp-session-id': session, origin };
        expect((await ask('remote-mcp', '/mcp', { ...asked, headers: { ...headers, ...own } })).status).toBe(403);
      },
    );
  });

  describe.each<Listener>(['backend', 'remote-mcp', 'frontend'])('every listener: %s', (listener) => {
    const paths = ['/', '/mcp', '/graphql', '/health', '/ready', '/files/x', '/internal/files/x/y'];

    test('gives no permission to a page of another origin', async () => {
      for (const path of paths) {
        const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
        const headers = { origin: evil, ...asked };
        for (const method of ['OPTIONS', 'GET']) {
          const answer = await ask(listener, path, { method, headers });
          const given = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-allow'));
          expect([path, method, given]).toEqual([path, method, []]);
        }
      }
    });

    test('opens no WebSocket', async () => {
      const headers = {
        ...{ origin: evil, connection: 'Upgrade', upgrade: 'websocket' },
        ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      };
      for (const path of paths) expect((await ask(listener, path, { headers })).status).not.toBe(101);
    });

    test('gives a page under a rebound name what it gives a stranger, and no more', async () => {
      const headers = { host: rebound, origin: `http://${rebound}` };
      for (const path of paths) {
        const { status, body } = await ask(listener, path, { headers });
        const shown = body.replaceAll(rebound, '');
        expect([path, shown]).toEqual([path, expect.not.stringMatching(new RegExp(`${key}|${session}|${token}`))]);
        if (path === '/mcp' || path === '/graphql') expect(status).toBeGreaterThanOrEqual(400);
      }
    });

    test('sets no cookie, and declares its content type', async () => {
      for (const path of ['/', '/health', '/ready', '/nothing<script>']) {
        const { headers, body } = await ask(listener, path);
        expect([path, headers['set-cookie'], headers['x-content-type-options']]).toEqual([path, undefined, 'nosniff']);
        if (!headers['content-type']?.startsWith('text/html'))
          expect(headers['content-type']).toMatch(/json|text\/plain/);
        expect(body).not.toContain('nothing<script>"');
      }
    });
  });

  test('the page of the platform cannot be framed, and loads nothing from elsewhere', async () => {
    const { headers } = await ask('frontend', '/');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  test('no answer sends a client elsewhere for a token', async () => {
    for (const name of ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration']) {
      expect([name, (await ask('remote-mcp', `/.well-known/${name}`)).status]).toEqual([name, 404]);
    }
    expect((await ask('remote-mcp', '/mcp')).headers['www-authenticate']).toBe('Bearer');
  });
});
