import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import {
  clientId,
  clientSecret,
  startOpenidProvider,
  type TestIdentity,
  type TestProvider,
} from './openid-provider.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

const page = 'http://localhost:8888';
const callback = 'http://localhost:3000/account/provider/callback';
let provider: TestProvider;
let backend: TestBackend;

const variables = (issuer: string) => ({
  SIGN_IN_PROVIDER_NAME: 'Acme',
  SIGN_IN_PROVIDER_ISSUER: issuer,
  SIGN_IN_PROVIDER_CLIENT_ID: clientId,
  SIGN_IN_PROVIDER_CLIENT_SECRET: clientSecret,
});

beforeAll(async () => {
  provider = await startOpenidProvider(callback);
  backend = await startTestBackend(variables(provider.issuer));
});
afterAll(async () => {
  await backend.stop();
  await provider.stop();
});

async function addPerson(): Promise<string> {
  const name = `p${newId('user').slice(4).toLowerCase()}`;
  const address = `${name}@example.com`;
  await backend.must(`mutation { createWorkspace(input: { name: "${name}", ownerEmail: "${address}" }) { id } }`);
  return address;
}

/** The address at the provider that the backend sends the browser to. */
async function begin(browser: Browser, query = ''): Promise<string> {
  const { status, location } = await browser.get(`/account/provider${query}`);
  expect([status, new URL(location).origin]).toEqual([303, provider.issuer]);
  return location;
}

function finish(browser: Browser, { search }: { readonly search: string }) {
  return browser.get(`/account/provider/callback${search}`);
}

async function signIn(person: TestIdentity | null, query = '') {
  provider.person = person;
  const browser = new Browser(backend.url);
  const returned = await provider.visit(await begin(browser, query));
  return { browser, returned, ...(await finish(browser, returned)) };
}

function person(email: string, more: Partial<TestIdentity> = {}): TestIdentity {
  return { subject: newId('user'), email, isVerified: true, ...more };
}

async function emailOf(browser: Browser): Promise<string | null> {
  const { body } = await browser.post(graphqlPath, { query: '{ viewer { email } }' });
  return body.data?.viewer.email ?? null;
}

const refusedWith = (code: string) => `${page}/sign-in?refused=${code}`;

describe('a sign-in by the provider', () => {
  test('finds the person by a verified address', async () => {
    const email = await addPerson();
    const { browser, status, location } = await signIn(person(email.toUpperCase()));
    expect([status, location]).toEqual([303, `${page}/`]);
    expect(await emailOf(browser)).toBe(email);
    const { body } = await browser.post(graphqlPath, { query: '{ viewer { hasWayToSignIn sessions { provenBy } } }' });
    expect(body.data.viewer).toEqual({ hasWayToSignIn: true, sessions: [{ provenBy: 'provider' }] });
    expect([...browser.cookies.keys()].filter((name) => name.endsWith('provider'))).toEqual([]);
    expect((await browser.post('/account/refresh', {})).status).toBe(204);
  });

  test("then finds it by the provider's own name of the person", async () => {
    const email = await addPerson();
    const identity = person(email);
    await signIn(identity);
    const again = await signIn({ ...identity, email: 'changed@example.com', isVerified: false });
    expect(await emailOf(again.browser)).toBe(email);
  });

  test('asks with PKCE, state and nonce, and keeps them from scripts', async () => {
    const browser = new Browser(backend.url);
    const { searchParams } = new URL(await begin(browser));
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ client_id: clientId, redirect_uri: callback, response_type: 'code', scope: 'openid email' },
      ...{ code_challenge_method: 'S256', code_challenge: expect.stringMatching(/^[\w-]{43}$/) },
      ...{ state: expect.stringMatching(/^[\w-]{40,}$/), nonce: expect.stringMatching(/^[\w-]{40,}$/) },
    });
    const [[, cookie] = []] = browser.cookies;
    expect(cookie?.attributes).toBe('Max-Age=300; Path=/; SameSite=Lax; HttpOnly');
    expect(cookie?.value).not.toContain(searchParams.get('state'));
  });

  test.each([
    ['/connect/abc?x=1', `${page}/connect/abc?x=1`],
    [`${page}/w/1`, `${page}/w/1`],
    ['https://evil.example/', `${page}/`],
    ['//evil.example/', `${page}/`],
    ['/\\evil.example/', `${page}/`],
    ['javascript:alert(1)', `${page}/`],
    [`/${'x'.repeat(1000)}`, `${page}/`],
  ])('from %s goes back to %s', async (back, expected) => {
    const query = `?${new URLSearchParams({ back })}`;
    expect((await signIn(person(await addPerson()), query)).location).toBe(expected);
  });

  test('twice named, the way back is the first page', async () => {
    expect((await signIn(person(await addPerson()), '?back=/a&back=/b')).location).toBe(`${page}/`);
  });

  test('that is refused keeps the way back for the next try', async () => {
    const { location } = await signIn(null, '?back=%2Fconnect%2Fabc');
    const way = encodeURIComponent(`${page}/connect/abc`);
    expect(location).toBe(`${refusedWith('provider_refused')}&back=${way}`);
  });

  test('is offered by the sign-in page', async () => {
    const { body } = await new Browser(backend.url).post('/account/ways', {});
    expect(body.provider).toEqual({ name: 'Acme' });
  });

  test.each<[string, string, (email: string) => TestIdentity | null]>([
    ['with an address that is not verified', 'address_not_verified', (email) => person(email, { isVerified: false })],
    ['with an unknown address', 'unknown_address', () => person('nobody@example.com')],
    ['that the person refuses', 'provider_refused', () => null],
  ])('%s is refused, and the page learns why', async (_what, code, who) => {
    const { browser, location } = await signIn(who(await addPerson()));
    expect(location).toBe(refusedWith(code));
    expect(browser.cookies.size).toBe(0);
  });

  test('with the address of a person who has another identity there is refused', async () => {
    const email = await addPerson();
    await signIn(person(email));
    const other = await signIn(person(email));
    expect(other.location).toBe(refusedWith('other_identity'));
    expect(other.browser.cookies.size).toBe(0);
  });

  test('is refused a second time', async () => {
    const { browser, returned } = await signIn(person(await addPerson()));
    expect((await finish(browser, returned)).location).toBe(refusedWith('expired'));
  });

  test('that another browser began is refused', async () => {
    provider.person = person(await addPerson());
    const [attacker, victim] = [new Browser(backend.url), new Browser(backend.url)];
    const returned = await provider.visit(await begin(attacker));
    expect((await finish(victim, returned)).location).toBe(refusedWith('expired'));
    await begin(victim);
    expect((await finish(victim, returned)).location).toBe(refusedWith('provider_refused'));
    expect(victim.cookies.size).toBe(0);
  });

  test.each<[string, (query: URLSearchParams) => void]>([
    ['another state', (query) => query.set('state', 'x'.repeat(43))],
    ['no state', (query) => query.delete('state')],
    ['another code', (query) => query.set('code', 'x'.repeat(43))],
    ['another issuer', (query) => query.set('iss', 'https://evil.example')],
    ['nothing', (query) => [...query.keys()].forEach((name) => void query.delete(name))],
  ])('with %s is refused', async (_what, change) => {
    provider.person = person(await addPerson());
    const browser = new Browser(backend.url);
    const returned = await provider.visit(await begin(browser));
    change(returned.searchParams);
    expect((await finish(browser, returned)).location).toBe(refusedWith('provider_refused'));
    expect(browser.cookies.size).toBe(0);
  });

  test.each(['x', 'v1.a.b.c'])('with the cookie "%s" is refused', async (value) => {
    provider.person = person(await addPerson());
    const browser = new Browser(backend.url);
    const returned = await provider.visit(await begin(browser));
    for (const [name, cookie] of browser.cookies) browser.cookies.set(name, { ...cookie, value });
    expect((await finish(browser, returned)).location).toBe(refusedWith('expired'));
  });

  test('appears in no log', async () => {
    const { returned } = await signIn(person(await addPerson()));
    const logged = backend.logged.join('');
    for (const secret of [clientSecret, returned.searchParams.get('code'), returned.searchParams.get('state')]) {
      expect(logged).not.toContain(secret);
    }
  });
});

/** A backend whose provider answers so, or is unreachable. */
async function withProvider(answer: RequestListener | null): Promise<TestBackend> {
  const server = createServer(answer ?? undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  if (answer === null) await stop();
  else onTestFinished(stop);
  const other = await startTestBackend(variables(`http://127.0.0.1:${port}`));
  onTestFinished(() => other.stop());
  return other;
}

describe('a provider', () => {
  test.each<[string, RequestListener | null]>([
    ['that is unreachable', null],
    ['that never answers', () => undefined],
    ['that answers without an end', (_request, response) => void response.write('{')],
    ['whose answer is too large', (_request, response) => void response.end('x'.repeat(300_000))],
    ['that answers with something else', (_request, response) => void response.end('<html>')],
    [
      'that sends the backend elsewhere',
      (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ])('%s is reported on the page, and delays nothing else', { timeout: 30_000 }, async (_what, answer) => {
    const other = await withProvider(answer);
    const browser = new Browser(other.url);
    const since = performance.now();
    const visit = browser.get('/account/provider');
    expect((await browser.post('/account/ways', {})).status).toBe(200);
    expect((await visit).location).toBe(refusedWith('provider_unavailable'));
    expect(performance.now() - since).toBeLessThan(8000);
  });

  test('that came back is used again', async () => {
    let isBack = false;
    const issuer = { address: '' };
    const other = await withProvider((request, response) => {
      issuer.address = `http://${request.headers.host}`;
      const metadata = { issuer: issuer.address, authorization_endpoint: `${issuer.address}/auth` };
      if (!isBack) return void response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    });
    const browser = new Browser(other.url);
    expect((await browser.get('/account/provider')).location).toBe(refusedWith('provider_unavailable'));
    isBack = true;
    expect((await browser.get('/account/provider')).location).toMatch(`${issuer.address}/auth?`);
  });

  test('that is not configured is refused', async () => {
    const other = await startTestBackend();
    onTestFinished(() => other.stop());
    const browser = new Browser(other.url);
    expect((await browser.get('/account/provider')).location).toBe(refusedWith('no_provider'));
    expect((await browser.get('/account/provider/callback?code=x')).location).toBe(refusedWith('no_provider'));
  });
});

test('passwords can be switched off', async () => {
  const other = await startTestBackend({ SIGN_IN_PASSWORDS: 'false' });
  onTestFinished(() => other.stop());
  await other.must('mutation { createWorkspace(input: { name: "A", ownerEmail: "a@b" }) { id } }');
  const { createSignInLink } = await other.must('mutation { createSignInLink(email: "a@b") { url } }');
  const browser = new Browser(other.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  expect((await browser.post('/account/ways', {})).body.password).toBe(false);
  expect((await browser.post('/account/password', { email: 'a@b', password: 'correct horse' })).status).toBe(403);
  const query = 'mutation { setPassword(password: "correct horse") { id } }';
  expect((await browser.post(graphqlPath, { query })).body.errors[0].extensions.code).toBe('forbidden');
});
