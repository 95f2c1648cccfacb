import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let email: string;

beforeAll(async () => {
  backend = await startTestBackend();
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

async function signIn(userAgent: string, address = email): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${address}") { url } }`);
  const browser = new Browser(backend.url, { 'user-agent': userAgent });
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

async function ask(browser: Browser, query: string, variables: object = {}) {
  const { body } = await browser.post(graphqlPath, { query, variables });
  return { data: body.data, code: body.errors?.[0]?.extensions.code ?? null };
}

async function sessionsOf(browser: Browser) {
  const query = '{ viewer { sessions { id device provenBy isCurrent createdAt lastUsedAt } } }';
  return (await ask(browser, query)).data.viewer.sessions;
}

describe('the sessions of a person', () => {
  test('are shown newest first, with the browser and the present one', async () => {
    const laptop = await signIn('Firefox/1 Linux');
    await signIn('Chrome/1 Android');
    await signIn('Firefox/1 Linux', await addPerson());
    const times = { createdAt: expect.any(Number), lastUsedAt: expect.any(Number), id: expect.any(String) };
    expect(await sessionsOf(laptop)).toEqual([
      { device: 'Chrome on Android', provenBy: 'link', isCurrent: false, ...times },
      { device: 'Firefox on Linux', provenBy: 'link', isCurrent: true, ...times },
    ]);
  });

  test('end one by one, at once', async () => {
    const laptop = await signIn('Firefox/1 Linux');
    const phone = await signIn('Chrome/1 Android');
    const [other, own] = await sessionsOf(laptop);
    const end = (browser: Browser, id: string) => ask(browser, 'mutation ($id: ID!) { endSession(id: $id) }', { id });
    expect((await end(laptop, other.id)).data).toEqual({ endSession: true });
    expect(await phone.signedInAs()).toBe(null);
    expect((await phone.post('/account/refresh', {})).status).toBe(401);
    expect((await end(laptop, other.id)).code).toBe('not_found');
    expect((await end(laptop, own.id)).data).toEqual({ endSession: true });
    expect(await laptop.signedInAs()).toBe(null);
  });

  test('end all but the present one', async () => {
    const laptop = await signIn('Firefox/1 Linux');
    const others = [await signIn('Chrome/1 Android'), await signIn('Safari/1 iPhone')];
    const stranger = await signIn('Firefox/1 Linux', await addPerson());
    const { data } = await ask(laptop, 'mutation { endOtherSessions { sessions { isCurrent } } }');
    expect(data.endOtherSessions.sessions).toEqual([{ isCurrent: true }]);
    for (const other of others) expect(await other.signedInAs()).toBe(null);
    expect(await laptop.signedInAs()).not.toBe(null);
    expect(await stranger.signedInAs()).not.toBe(null);
  });

  test('do not exist for another person', async () => {
    const laptop = await signIn('Firefox/1 Linux');
    const [own] = await sessionsOf(laptop);
    const stranger = await signIn('Firefox/1 Linux', await addPerson());
    for (const id of [own.id, newId('browserSession')]) {
      expect((await ask(stranger, `mutation { endSession(id: "${id}") }`)).code).toBe('not_found');
    }
    expect((await ask(stranger, 'mutation { endSession(id: "x") }')).code).toBe('invalid_input');
    expect(await laptop.signedInAs()).not.toBe(null);
  });

  test('are none for an operator', async () => {
    expect((await backend.must('{ viewer { sessions { id } passkeys { id } } }')).viewer).toEqual({
      ...{ sessions: [], passkeys: [] },
    });
  });
});
