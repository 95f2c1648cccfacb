import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Authenticator, type Faults } from './authenticator.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let email: string;
let networks = 0;

beforeAll(async () => {
  backend = await startTestBackend({ TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => backend.stop());
beforeEach(async () => {
  email = await addPerson();
});

async function addPerson(): Promise<string> {
  const name = `p${newId('user').slice(4).toLowerCase()}`;
  const address = `${name}@example.com`;
  await backend.must(`mutation { createWorkspace(input: { name: "${name}", ownerEmail: "${address}" }) { id } }`);
  return address;
}

/** Failures are counted by network, so each browser has its own. */
function openBrowser(): Browser {
  networks += 1;
  return new Browser(backend.url, { 'x-forwarded-for': `198.51.${networks >> 8}.${networks & 0xff}` });
}

async function signInByLink(address = email): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${address}") { url } }`);
  const browser = openBrowser();
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

async function ask(browser: Browser, query: string, variables: object = {}) {
  const { body } = await browser.post(graphqlPath, { query, variables });
  const [problem] = body.errors ?? [];
  return { data: body.data, code: problem?.extensions.code ?? null, message: problem?.message };
}

async function begin(browser: Browser) {
  const { data } = await ask(browser, 'mutation { beginPasskey { options ticket } }');
  return { options: JSON.parse(data.beginPasskey.options), ticket: data.beginPasskey.ticket as string };
}

function add(browser: Browser, ticket: string, response: object, name = 'My key') {
  const query = `mutation ($ticket: String!, $response: String!, $name: String!) {
    addPasskey(ticket: $ticket, response: $response, name: $name) { id name lastUsedAt }
  }`;
  return ask(browser, query, { ticket, response: JSON.stringify(response), name });
}

/** A person's browser and a passkey of that person. */
async function withPasskey(address = email) {
  const browser = await signInByLink(address);
  const authenticator = new Authenticator();
  const { options, ticket } = await begin(browser);
  const { data } = await add(browser, ticket, authenticator.register(options));
  return { browser, authenticator, id: data.addPasskey.id as string };
}

async function beginSignIn() {
  const browser = openBrowser();
  const { body } = await browser.post('/account/passkey/options', {});
  return { browser, options: body.options };
}

async function signIn(authenticator: Authenticator, faults?: Faults) {
  const { browser, options } = await beginSignIn();
  const response = authenticator.sign(options, faults);
  return { browser, response, ...(await browser.post('/account/passkey', { response })) };
}

/** Moves all proofs of persons into the past. */
async function ageProofs(ms: number): Promise<void> {
  await backend.withGraph(async (graph) => {
    const { nodes } = await graph.select({ type: 'browserSession', anchor: null, limit: 1000 });
    await graph.write(async (transaction) => {
      for (const { id, provenAt } of nodes) {
        await transaction.update('browserSession', id, { provenAt: provenAt - ms }, { anchor: null });
      }
    });
  });
}

describe('a passkey', () => {
  test('signs its person in, without an address', async () => {
    const { browser, authenticator } = await withPasskey();
    const answer = await signIn(authenticator);
    expect([answer.status, answer.body.user.email]).toEqual([200, email]);
    expect(await answer.browser.signedInAs()).toBe(await browser.signedInAs());
    expect([...answer.browser.cookies.keys()].filter((name) => name.endsWith('passkey'))).toEqual([]);
    const { data } = await ask(browser, '{ viewer { hasWayToSignIn passkeys { name lastUsedAt } } }');
    expect(data.viewer).toEqual({
      ...{ hasWayToSignIn: true, passkeys: [{ name: 'My key', lastUsedAt: expect.any(Number) }] },
    });
  });

  test('signs in again, with a counter and without one', async () => {
    const { authenticator } = await withPasskey();
    expect((await signIn(authenticator)).status).toBe(200);
    expect((await signIn(authenticator)).status).toBe(200);
    authenticator.counter = 7;
    expect((await signIn(authenticator)).status).toBe(200);
    authenticator.counter = 8;
    expect((await signIn(authenticator)).status).toBe(200);
  });

  test('is for the page and its host, with the user verified, and the challenge is sealed', async () => {
    const browser = await signInByLink();
    const { options } = await begin(browser);
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const signingIn = await beginSignIn();
    expect(signingIn.options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    const [[name = '', cookie] = []] = signingIn.browser.cookies;
    expect([name.replace(/[0-9a-f]{8}/, '*'), cookie?.attributes]).toEqual([
      ...['svc-*-passkey', 'Max-Age=300; Path=/; SameSite=Strict; HttpOnly'],
    ]);
    expect(cookie?.value).not.toContain(signingIn.options.challenge);
  });

  test.each<[string, Faults]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port of the host', { origin: 'http://localhost:8889' }],
    ['for another host', { rpId: 'evil.example' }],
    ['without user verification', { isUserVerified: false }],
    ['of another kind', { type: 'webauthn.create' }],
  ])('is refused %s', async (_what, faults) => {
    const { authenticator } = await withPasskey();
    const answer = await signIn(authenticator, faults);
    expect([answer.status, answer.body.error.message]).toEqual([401, 'The passkey was refused.']);
    expect(answer.browser.nameOf('access')).toBe('');
    expect((await signIn(authenticator)).status).toBe(200);
  });

  test('whose counter goes back, or stays, is refused', async () => {
    const { authenticator } = await withPasskey();
    expect((await signIn(authenticator, { counter: 5 })).status).toBe(200);
    for (const counter of [5, 4, 0]) expect((await signIn(authenticator, { counter })).status).toBe(401);
    expect(backend.logged.join('')).toContain('its counter went back');
    expect((await signIn(authenticator, { counter: 6 })).status).toBe(200);
  });

  test('with a changed signature is refused, and so is one of another key', async () => {
    const { authenticator } = await withPasskey();
    const { browser, options } = await beginSignIn();
    const right = authenticator.sign(options);
    const changed = { ...right.response, signature: flipped(right.response.signature) };
    expect((await browser.post('/account/passkey', { response: { ...right, response: changed } })).status).toBe(401);
    const other = new Authenticator({ id: authenticator.id });
    other.userHandle = authenticator.userHandle;
    expect((await browser.post('/account/passkey', { response: other.sign(options) })).status).toBe(401);
    const foreign = new Authenticator();
    expect((await browser.post('/account/passkey', { response: foreign.sign(options) })).status).toBe(401);
    expect((await browser.post('/account/passkey', { response: right })).status).toBe(200);
  });

  test('of another person is refused', async () => {
    const { authenticator } = await withPasskey();
    const other = await withPasskey(await addPerson());
    authenticator.userHandle = other.authenticator.userHandle;
    expect((await signIn(authenticator)).status).toBe(401);
  });

  test('is refused a second time, also at the same moment', async () => {
    const { authenticator } = await withPasskey();
    const { browser, options } = await beginSignIn();
    const copies = [browser.copy(), browser.copy(), browser.copy()];
    const response = authenticator.sign(options);
    const answers = await Promise.all(copies.map((copy) => copy.post('/account/passkey', { response })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect((await browser.post('/account/passkey', { response })).status).toBe(401);
  });

  test('is refused for a challenge of another browser, of another purpose, or of none', async () => {
    const { browser: own, authenticator } = await withPasskey();
    const [one, other] = [await beginSignIn(), await beginSignIn()];
    expect((await other.browser.post('/account/passkey', { response: authenticator.sign(one.options) })).status).toBe(
      401,
    );
    const begun = await begin(own);
    const [name = ''] = one.browser.cookies.keys();
    for (const value of [begun.ticket, '', 'x', `${one.browser.cookies.get(name)?.value}x`]) {
      const browser = one.browser.copy();
      browser.cookies.set(name, { value, attributes: '' });
      const answer = await browser.post('/account/passkey', { response: authenticator.sign(begun.options) });
      expect([value.slice(0, 5), answer.status]).toEqual([value.slice(0, 5), 401]);
    }
  });

  test('is refused when it was removed', async () => {
    const { browser, authenticator, id } = await withPasskey();
    const query = 'mutation ($id: ID!) { removePasskey(id: $id) { hasWayToSignIn passkeys { id } } }';
    const { data } = await ask(browser, query, { id });
    expect(data.removePasskey).toEqual({ hasWayToSignIn: false, passkeys: [] });
    expect((await signIn(authenticator)).status).toBe(401);
  });

  const response = { clientDataJSON: 'a', authenticatorData: 'a', signature: 'a' };
  test.each([
    ['without a response', {}],
    ['with null', { response: null }],
    ['without its fields', { response: { id: 'a' } }],
    ['with other letters', { response: { id: 'a', response: { ...response, signature: '+/' } } }],
    ['with a long id', { response: { id: 'x'.repeat(1365), response } }],
    ['with long data', { response: { id: 'a', response: { ...response, clientDataJSON: 'x'.repeat(4097) } } }],
  ])('%s is refused', async (_what, body) => {
    const { browser } = await beginSignIn();
    expect((await browser.post('/account/passkey', body)).status).toBe(400);
  });

  test('that is no CBOR is refused, and causes no fault', async () => {
    const { browser } = await beginSignIn();
    const response = { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' };
    const { authenticator } = await withPasskey();
    const answer = await browser.post('/account/passkey', { response: { id: authenticator.id, response } });
    expect(answer.status).toBe(401);
  });
});

describe('adding a passkey', () => {
  test.each<[string, Faults]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['for another host', { rpId: 'evil.example' }],
    ['without user verification', { isUserVerified: false }],
    ['of another kind', { type: 'webauthn.get' }],
  ])('is refused %s', async (_what, faults) => {
    const browser = await signInByLink();
    const { options, ticket } = await begin(browser);
    expect((await add(browser, ticket, new Authenticator().register(options, faults))).code).toBe('invalid_input');
    expect((await add(browser, ticket, new Authenticator().register(options))).code).toBe(null);
  });

  test('is refused with the ticket of another session, another challenge, or none', async () => {
    const browser = await signInByLink();
    const other = await signInByLink();
    const [mine, theirs] = [await begin(browser), await begin(other)];
    const authenticator = new Authenticator();
    expect((await add(browser, theirs.ticket, authenticator.register(theirs.options))).code).toBe('invalid_input');
    expect((await add(browser, mine.ticket, authenticator.register(theirs.options))).code).toBe('invalid_input');
    const signingIn = await beginSignIn();
    const [cookie] = signingIn.browser.cookies.values();
    const registered = authenticator.register({ ...mine.options, challenge: signingIn.options.challenge });
    expect((await add(browser, cookie?.value ?? '', registered)).code).toBe('invalid_input');
    expect((await add(browser, 'x', registered)).code).toBe('invalid_input');
  });

  test.each([
    ['{}', '{}'],
    ['x', 'x'],
    ['[]', '[]'],
    ['of 20 KB', `"${'x'.repeat(20_000)}"`],
  ])('refuses the response %s', async (_what, response) => {
    const browser = await signInByLink();
    const { ticket } = await begin(browser);
    const query = 'mutation ($t: String!, $r: String!) { addPasskey(ticket: $t, response: $r, name: "x") { id } }';
    expect((await ask(browser, query, { t: ticket, r: response })).code).toBe('invalid_input');
  });

  test('twice with one key is a conflict', async () => {
    const { browser, authenticator } = await withPasskey();
    const { options, ticket } = await begin(browser);
    expect(options.excludeCredentials).toMatchObject([{ id: authenticator.id }]);
    expect((await add(browser, ticket, authenticator.register(options))).code).toBe('conflict');
    const other = await signInByLink(await addPerson());
    const begun = await begin(other);
    expect((await add(other, begun.ticket, authenticator.register(begun.options))).code).toBe('conflict');
  });

  test('is possible twenty times', async () => {
    const browser = await signInByLink();
    const first = await begin(browser);
    for (let i = 0; i < 20; i++) {
      const { options, ticket } = await begin(browser);
      expect((await add(browser, ticket, new Authenticator().register(options), `Key ${i}`)).code).toBe(null);
    }
    expect((await ask(browser, 'mutation { beginPasskey { ticket } }')).code).toBe('conflict');
    expect((await add(browser, first.ticket, new Authenticator().register(first.options))).code).toBe('conflict');
  });

  test.each([
    ['that is empty', '   '],
    ['of 65 letters', 'x'.repeat(65)],
    ['of two lines', 'a\nb'],
    ['with a hidden character', 'a\u202eb'],
  ])('refuses a name %s', async (_what, name) => {
    const browser = await signInByLink();
    const { options, ticket } = await begin(browser);
    expect((await add(browser, ticket, new Authenticator().register(options), name)).code).toBe('invalid_input');
  });

  test('and removing one need a recent sign-in', async () => {
    const { browser, id } = await withPasskey();
    const { options, ticket } = await begin(browser);
    await ageProofs(16 * 60_000);
    expect((await ask(browser, 'mutation { beginPasskey { ticket } }')).code).toBe('forbidden');
    expect((await add(browser, ticket, new Authenticator().register(options))).code).toBe('forbidden');
    expect((await ask(browser, `mutation { removePasskey(id: "${id}") { id } }`)).code).toBe('forbidden');
    const renamed = await ask(browser, `mutation { renamePasskey(id: "${id}", name: " Ann’s phone ") { name } }`);
    expect(renamed.data.renamePasskey).toEqual({ name: 'Ann’s phone' });
  });
});

test("another person's passkey does not exist", async () => {
  const { id } = await withPasskey();
  const other = await signInByLink(await addPerson());
  for (const named of [id, newId('passkey')]) {
    expect((await ask(other, `mutation { removePasskey(id: "${named}") { id } }`)).code).toBe('not_found');
    expect((await ask(other, `mutation { renamePasskey(id: "${named}", name: "x") { id } }`)).code).toBe('not_found');
  }
  expect((await ask(other, '{ viewer { passkeys { id } } }')).data.viewer.passkeys).toEqual([]);
});

test.each([
  ['http://192.0.2.1:8888', false],
  ['https://[2001:db8::1]', false],
  ['http://svc.example.com', false],
  ['https://svc.example.com', true],
  ['http://localhost:8888', true],
])('for a page at %s, passkeys are offered: %s', async (page, passkeys) => {
  const other = await startTestBackend({ PUBLIC_FRONTEND_URL: page });
  const browser = new Browser(other.url);
  expect((await browser.post('/account/ways', {})).body.passkeys).toBe(passkeys);
  expect((await browser.post('/account/passkey/options', {})).status).toBe(passkeys ? 200 : 501);
  await other.stop();
});

/** The same length, with another bit in the middle. */
function flipped(base64url: string): string {
  const bytes = Buffer.from(base64url, 'base64url');
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes.toString('base64url');
}
