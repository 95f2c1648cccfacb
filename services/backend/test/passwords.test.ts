import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Passwords } from '../accounts/passwords.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

// A verification takes a quarter of a second, and more when other tests run.
vi.setConfig({ testTimeout: 30_000 });

let backend: TestBackend;
/** A new person for each test, because failures are counted. */
let email: string;
const password = 'correct horse battery';

beforeAll(async () => {
  backend = await startTestBackend({ TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => backend.stop());
beforeEach(async () => {
  email = `${newId('user').toLowerCase()}@example.com`;
  await addPerson(email);
});

async function addPerson(address: string): Promise<void> {
  const name = address.replace('@example.com', '').slice(0, 40);
  await backend.must(`mutation { createWorkspace(input: { name: "x-${name}", ownerEmail: "${address}" }) { id } }`);
}

async function signInByLink(): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  const browser = new Browser(backend.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

async function setPassword(browser: Browser, variables: { current?: string; password: string }) {
  const query =
    'mutation ($current: String, $password: String!) { setPassword(current: $current, password: $password) { hasPassword } }';
  const { body } = await browser.post(graphqlPath, { query, variables });
  return { data: body.data, code: body.errors?.[0]?.extensions.code ?? null, message: body.errors?.[0]?.message };
}

/** The address of another network for each test, unless it names one. */
let networks = 0;
async function signIn(shown: string, { as = email, from = `198.51.100.${networks++ % 250}` } = {}) {
  const browser = new Browser(backend.url, { 'x-forwarded-for': from });
  return { browser, ...(await browser.post('/account/password', { email: as, password: shown })) };
}

/** A browser whose person has a password. */
async function withPassword(): Promise<Browser> {
  const browser = await signInByLink();
  expect(await setPassword(browser, { password })).toMatchObject({ data: { setPassword: { hasPassword: true } } });
  return browser;
}

/** Moves the proofs of all sessions into the past. */
async function age(ms: number): Promise<void> {
  await backend.withGraph(async (graph) => {
    const { nodes } = await graph.select({ type: 'browserSession', anchor: null, limit: 1000 });
    await graph.write(async (transaction) => {
      for (const { id, provenAt } of nodes) {
        await transaction.update('browserSession', id, { provenAt: provenAt - ms }, { anchor: null });
      }
    });
  });
}

describe('a password', () => {
  test('signs its person in', async () => {
    await withPassword();
    const { status, body, browser } = await signIn(password);
    expect([status, body.user.email]).toEqual([200, email]);
    expect(await browser.signedInAs()).toBe(body.user.id);
    expect((await signIn(password, { as: ` ${email.toUpperCase()} ` })).status).toBe(200);
  });

  test('is refused when it is wrong, in the same words as an unknown address', async () => {
    await withPassword();
    const wrong = await signIn('wrong horse battery');
    const unknown = await signIn(password, { as: 'nobody@example.com' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text).toBe(unknown.text);
    expect(wrong.browser.cookies.size).toBe(0);
  });

  test('that nobody has set signs nobody in', async () => {
    expect((await signIn('')).status).toBe(401);
    expect((await signIn(password)).status).toBe(401);
  });

  test('of another person is wrong', async () => {
    await withPassword();
    const other = `other-${email}`;
    await addPerson(other);
    expect((await signIn(password, { as: other })).status).toBe(401);
  });

  test('is stored again when its cost was another one, and stays valid', async () => {
    const browser = await withPassword();
    const old = await new Passwords({ ln: 4, r: 8, p: 1 }).hash(new Secret(password), 'a');
    const user = (await browser.signedInAs()) ?? '';
    const stored = () => backend.withGraph((graph) => graph.findBy('password', { user }, null));
    const id = (await stored())?.id;
    if (id === undefined) throw new Error('no password was stored');
    await backend.withGraph((graph) =>
      graph.write((transaction) => transaction.update('password', id, { hash: old }, { anchor: null })),
    );
    expect((await signIn(password)).status).toBe(200);
    expect((await stored())?.hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect((await signIn(password)).status).toBe(200);
  });

  test('is in no log, no answer and no field', async () => {
    await withPassword();
    await signIn(password);
    await signIn(`${password}x`);
    await signIn(password, { as: password });
    await setPassword(await signInByLink(), { current: `${password}y`, password: `${password}z` });
    expect(backend.logged.join('')).not.toContain(password);
    expect(backend.logged.join('')).toContain('refused a password');
  });

  test.each([
    [{ password }],
    [{ email: 'a@b' }],
    [{ email: 'no address', password }],
    [{ email: `${'x'.repeat(260)}@example.com`, password }],
    [{ email: 'a@b', password: 'x'.repeat(1001) }],
    [{ email: ['a@b'], password }],
  ])('in a wrong form is refused and not quoted: %j', async (body) => {
    const answer = await new Browser(backend.url).post('/account/password', body);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/correct horse|no address|xxx/);
  });
});

describe('setting a password', () => {
  test('ends the other sessions and the other links, and keeps its own', async () => {
    const own = await signInByLink();
    const other = await signInByLink();
    const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
    await setPassword(own, { password });
    expect(await own.signedInAs()).not.toBe(null);
    expect(await other.signedInAs()).toBe(null);
    const token = new URL(createSignInLink.url).hash.slice('#token='.length);
    expect((await new Browser(backend.url).post('/account/link', { token })).status).toBe(401);
  });

  test('needs a recent sign-in or the present one', async () => {
    const browser = await withPassword();
    const next = 'another horse battery';
    await age(14 * 60_000);
    expect((await setPassword(browser, { password: next })).code).toBe(null);
    await age(2 * 60_000);
    expect(await setPassword(browser, { password })).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('within 15 minutes'),
    });
    expect(await setPassword(browser, { current: password, password })).toMatchObject({
      ...{ code: 'forbidden', message: 'The current password is wrong.' },
    });
    expect((await setPassword(browser, { current: next, password })).code).toBe(null);
    expect((await signIn(password)).status).toBe(200);
    expect((await signIn(next)).status).toBe(401);
  });

  test('for the first time needs a recent sign-in', async () => {
    const browser = await signInByLink();
    await age(16 * 60_000);
    expect((await setPassword(browser, { password })).code).toBe('forbidden');
    expect((await setPassword(browser, { current: '', password })).code).toBe('forbidden');
  });

  test('by guessing the present one is limited', async () => {
    const browser = await withPassword();
    await age(16 * 60_000);
    const codes = [];
    for (let i = 0; i < 11; i++) codes.push((await setPassword(browser, { current: `guess ${i} xx`, password })).code);
    expect(codes).toEqual([...Array(10).fill('forbidden'), 'rate_limited']);
    expect((await setPassword(browser, { current: password, password })).code).toBe('rate_limited');
    expect((await signIn(password)).status).toBe(200);
  });

  test.each([
    ['that is short', 'short'],
    ['of 201 letters', 'x'.repeat(201)],
  ])('refuses one %s', async (_what, text) => {
    const refused = await setPassword(await signInByLink(), { password: text });
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).not.toContain(text);
  });

  test('to the own address is refused', async () => {
    expect((await setPassword(await signInByLink(), { password: email })).code).toBe('invalid_input');
  });
});

describe('failures', () => {
  test('of a network are limited for an account, and say when to try again', async () => {
    await withPassword();
    const from = '203.0.113.1';
    const statuses = [];
    for (let i = 0; i < 10; i++) statuses.push((await signIn('wrong horse battery', { from })).status);
    expect(statuses).toEqual(Array(10).fill(401));
    const refused = await signIn(password, { from });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(refused.body.error.message).toMatch(/Try again in 1[45] minutes/);
    // The person comes from elsewhere.
    expect((await signIn(password, { from: '203.0.113.2' })).status).toBe(200);
  });

  test('are not avoided by another address of the same /64, nor by a forged one', async () => {
    for (let i = 0; i < 10; i++) await signIn('wrong horse battery', { from: `2001:db8:1:2::${i}` });
    expect((await signIn('wrong horse battery', { from: '2001:db8:1:2:3::1' })).status).toBe(429);
    expect((await signIn('wrong horse battery', { from: '192.0.2.7, 2001:db8:1:2::1' })).status).toBe(429);
    expect((await signIn('wrong horse battery', { from: '2001:db8:1:3::1' })).status).toBe(401);
  });

  test('at the same moment count too', async () => {
    const from = '203.0.113.9';
    const all = await Promise.all(Array.from({ length: 20 }, () => signIn('wrong horse battery', { from })));
    // Nine find a place in the queue of their network, two of them at once.
    expect(all.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
    expect(all.every(({ status }) => status === 401 || status === 429)).toBe(true);
  });
});

test('the page learns the ways to sign in', async () => {
  const { status, body } = await new Browser(backend.url).post('/account/ways', {});
  expect([status, body]).toEqual([200, { password: true, passkeys: true, mail: false, provider: null }]);
});

test('the viewer knows whether there is a password', async () => {
  const browser = await signInByLink();
  const query = '{ viewer { kind email hasPassword } }';
  expect((await browser.post(graphqlPath, { query })).body.data.viewer).toEqual({
    ...{ kind: 'user', email, hasPassword: false },
  });
  await setPassword(browser, { password });
  expect((await browser.post(graphqlPath, { query })).body.data.viewer.hasPassword).toBe(true);
  expect((await backend.must(query)).viewer).toEqual({ kind: 'operator', email: null, hasPassword: false });
});
