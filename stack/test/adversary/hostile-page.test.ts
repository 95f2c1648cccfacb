import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSession, ping } from '../../../services/remote-mcp/test/raw.ts';
import { operatorTokens } from '../../client/operator-token.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * A page of another origin, in the browser of a user who can reach the platform, sends all that browsers permit. It has
 * a key or token only where a row says that the browser sends one, and must read, change and frame nothing.
 */
let platform: Platform;
let key: string;
let session: string;
let token: string;

beforeAll(async () => {
  platform = await Platform.start();
  key = await platform.addKey('agent');
  session = await openSession(platform.mcpUrl, key);
  token = operatorTokens(platform.installation)();
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

const evil = 'https://evil.example';
/** The attacker's host name, which resolves to this machine. */
const rebound = 'evil.example';

interface PageRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Listener = 'backend' | 'remote-mcp' | 'frontend';

async function ask(listener: Listener, path: string, { method = 'GET', headers = {}, body }: PageRequest = {}) {
  const clientRequest = request({
    host: '127.0.0.1',
    port: platform.ports[listener],
    path,
    method,
    headers,
    agent: false,
  });
  clientRequest.end(body);
  const answered = Promise.race([once(clientRequest, 'response'), once(clientRequest, 'upgrade')]);
  const [response] = (await answered) as [IncomingMessage];
  const { statusCode: status = 0, headers: got } = response;
  return { status, headers: got, body: status === 101 ? '' : await text(response) };
}

const mutation = 'mutation { createWorkspace(input: { name: "Stolen", ownerEmail: "x@evil.example" }) { id } }';
const inBody = JSON.stringify({ query: mutation });
const inAddress = `query=${encodeURIComponent(mutation)}`;
const post = (type: string, body: string): PageRequest => ({ method: 'POST', headers: { 'content-type': type }, body });

/** CORS lets a page send these requests to any host. They must have no effect. */
test.each<[string, Listener, string, PageRequest, number]>([
  ['a message as text', 'remote-mcp', '/mcp', post('text/plain', JSON.stringify(ping)), 401],
  ['the end of a session', 'remote-mcp', '/mcp', { method: 'DELETE' }, 401],
  ['a stream', 'remote-mcp', '/mcp', { headers: { accept: 'text/event-stream' } }, 401],
  ['a mutation as text', 'backend', '/graphql', post('text/plain', inBody), 401],
  ['a mutation as a form', 'backend', '/graphql', post('application/x-www-form-urlencoded', inAddress), 401],
  ['a mutation as a file', 'backend', '/graphql', post('multipart/form-data; boundary=x', '--x--'), 401],
  ['a mutation as an address', 'backend', `/graphql?${inAddress}`, {}, 404],
  ['a catalogue', 'backend', '/internal/catalogue/w0', {}, 401],
  ['a file without a ticket', 'backend', `/files/${'0'.repeat(64)}`, {}, 403],
])('a request that browsers send without asking: %s', async (_, listener, path, pageRequest, status) => {
  const sent = {
    ...pageRequest,
    headers: { origin: evil, cookie: `token=${token}; key=${key}`, ...pageRequest.headers },
  };
  const answer = await ask(listener, path, sent);
  expect(answer.status).toBe(status);
  expect(answer.headers['access-control-allow-origin']).toBe(undefined);
});

describe.each<Listener>(['backend', 'remote-mcp', 'frontend'])('every listener: %s', (listener) => {
  const paths = ['/', '/mcp', '/graphql', '/health', '/ready', '/files/x', '/internal/files/x/y'];

  test('gives no permission to a page of another origin, and opens no WebSocket', async () => {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const webSocket = {
      ...{ connection: 'Upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    for (const path of paths) {
      for (const method of ['OPTIONS', 'GET']) {
        const answer = await ask(listener, path, { method, headers: { origin: evil, ...preflight } });
        const given = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-allow'));
        expect([path, method, given]).toEqual([path, method, []]);
      }
      expect((await ask(listener, path, { headers: { origin: evil, ...webSocket } })).status).not.toBe(101);
    }
  });

  test('gives a page under a rebound name what it gives a stranger, and no more', async () => {
    const headers = { host: rebound, origin: `http://${rebound}` };
    for (const path of paths) {
      const { status, body } = await ask(listener, path, { headers });
      const visible = body.replaceAll(rebound, '');
      expect([path, visible]).toEqual([path, expect.not.stringMatching(new RegExp(`${key}|${session}|${token}`))]);
      if (path !== '/mcp' && path !== '/graphql') continue;
      // The application's document is the same at every path and for everybody.
      if (listener === 'frontend') expect(body).toBe((await ask(listener, '/')).body);
      else expect(status).toBeGreaterThanOrEqual(400);
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

test('the page of the platform cannot be framed', async () => {
  expect((await ask('frontend', '/')).headers['content-security-policy']).toContain("frame-ancestors 'none'");
});

test('no answer sends a client elsewhere for a token, whatever name the client used', async () => {
  const { urls } = await platform.svc('status');
  const headers = { host: rebound };
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', urls.mcp).href;
  const refused = await ask('remote-mcp', '/mcp', { method: 'POST', headers });
  expect(refused.headers['www-authenticate']).toBe(`Bearer resource_metadata="${metadata}", scope="tools"`);
  for (const path of ['', '/mcp']) {
    const { body } = await ask('remote-mcp', `/.well-known/oauth-protected-resource${path}`, { headers });
    expect(JSON.parse(body)).toMatchObject({ resource: urls.mcp, authorization_servers: [urls.api] });
  }
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    expect([name, (await ask('remote-mcp', `/.well-known/${name}`)).status]).toEqual([name, 404]);
    const { body } = await ask('backend', `/.well-known/${name}`, { headers });
    const leadsTo = Object.values(JSON.parse(body)).filter((value) => /^https?:/.test(String(value)));
    expect([name, leadsTo.filter((url) => !String(url).startsWith(urls.api))]).toEqual([name, []]);
  }
});
