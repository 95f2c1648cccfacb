import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../stack/test/until.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { newProcessId, parseId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { type MailServer, startMailServer } from '../mail/test/mail-server.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let mailServer: MailServer;
let count = 0;
let before: string;
let wanted: string;
let browser: Browser;

beforeAll(async () => {
  mailServer = await startMailServer({ tls: 'none', hasLogin: false });
  backend = await startTestBackend({
    ...{ EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'svc@example.com', SMTP_TLS: 'none' },
    ...{ SMTP_HOST: mailServer.host, SMTP_PORT: String(mailServer.port) },
  });
});
afterAll(async () => {
  await backend.stop();
  await mailServer.stop();
});
beforeEach(async () => {
  [before, wanted] = [`ann-${++count}@old.example`, `ann-${count}@new.example`];
  await addPerson(before);
  browser = await signIn(before);
});

async function addPerson(email: string): Promise<void> {
  const name = email.replace('@', '.');
  await backend.must(`mutation { createWorkspace(input: { name: "${name}", ownerEmail: "${email}" }) { id } }`);
}

async function linkFor(email: string): Promise<string> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  return new URL(createSignInLink.url).hash.slice('#token='.length);
}

async function signIn(email: string): Promise<Browser> {
  const signedIn = new Browser(backend.url);
  expect((await signedIn.post('/account/link', { token: await linkFor(email) })).status).toBe(200);
  return signedIn;
}

/** The code of the refusal, or null. */
async function asks(query: string, variables: object = {}, by = browser): Promise<string | null> {
  const { body } = await by.post(graphqlPath, { query, variables });
  return body.errors?.[0]?.extensions.code ?? null;
}

const sends = (email = wanted, by = browser) =>
  asks('mutation ($email: String!) { sendAddressLink(email: $email) }', { email }, by);

const mailTo = (address: string) => mailServer.received.filter(({ to }) => to === address);

async function tokenTo(address: string): Promise<string> {
  await until(() => mailTo(address).length > 0);
  return (
    /confirm-address#token=([\w.-]+)/.exec(mailTo(address).at(-1)?.content.replaceAll('=\r\n', '') ?? '')?.[1] ?? ''
  );
}

async function confirms(token: string, by = browser) {
  const { status, body } = await by.post('/account/address', { token });
  return { status, code: body.error?.code ?? null, email: body.email ?? null };
}

async function ownAddress(by = browser): Promise<string> {
  return (await by.post(graphqlPath, { query: '{ viewer { email } }' })).body.data.viewer.email;
}

describe('a name', () => {
  test('is changed, within its rule', async () => {
    const change = 'mutation ($name: String!) { changeName(name: $name) { name } }';
    expect(await asks(change, { name: ' Ann Łuk ' })).toBe(null);
    const { body } = await browser.post(graphqlPath, {
      query: '{ viewer { name } workspaces { nodes { owner { name } } } }',
    });
    expect(body.data).toEqual({ viewer: { name: 'Ann Łuk' }, workspaces: { nodes: [{ owner: { name: 'Ann Łuk' } }] } });
    for (const name of ['', 'x'.repeat(81), 'two\nlines']) expect(await asks(change, { name })).toBe('invalid_input');
  });

  test('that stays the same is told to nobody', async () => {
    const bus = await backend.hub.connect({ kind: 'backend' }, newProcessId());
    const told: string[] = [];
    for (const pattern of [patterns.events, patterns.accounts]) {
      bus.subscribe(pattern, ({ subject }) => void told.push(subject));
    }
    const change = 'mutation ($name: String!) { changeName(name: $name) { name } }';
    for (const name of ['Ann', 'Ann', ' Ann ', 'Bea']) expect(await asks(change, { name })).toBe(null);
    await until(() => told.length >= 4);
    expect(told).toHaveLength(4);
    await bus.close();
  });
});

describe('an address', () => {
  test('is changed by the link of the mail, and the address before is told', async () => {
    expect(await sends(` ${wanted.toUpperCase()}`)).toBe(null);
    const token = await tokenTo(wanted);
    expect(await ownAddress()).toBe(before);
    const links = [await linkFor(before)];
    expect(await confirms(token)).toMatchObject({ status: 200, email: wanted });
    expect(await ownAddress()).toBe(wanted);
    await until(() => mailTo(before).some(({ content }) => content.includes('was changed')));
    for (const link of links)
      expect((await new Browser(backend.url).post('/account/link', { token: link })).status).toBe(401);
    expect(await ownAddress(await signIn(wanted))).toBe(wanted);
    expect(backend.logged.join('')).not.toContain(token);
  });

  test('is changed by a link once', async () => {
    await sends();
    const token = await tokenTo(wanted);
    expect((await confirms(token)).status).toBe(200);
    expect(await confirms(token)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  test('is not changed by whoever has the mail, without a session or in another account', async () => {
    await sends();
    const token = await tokenTo(wanted);
    await addPerson(`eve-${count}@example.com`);
    expect(await confirms(token, new Browser(backend.url))).toMatchObject({ status: 401 });
    expect(await confirms(token, await signIn(`eve-${count}@example.com`))).toMatchObject({ code: 'forbidden' });
    expect(await ownAddress()).toBe(before);
    expect((await confirms(token, await signIn(before))).status).toBe(200);
  });

  test('is not changed once the session that asked was ended, as by a new password', async () => {
    const thief = await signIn(before);
    await sends(wanted, thief);
    const token = await tokenTo(wanted);
    expect(await asks('mutation { setPassword(password: "correct horse battery") { id } }')).toBe(null);
    expect(await confirms(token)).toMatchObject({ code: 'unauthenticated' });
    expect(await ownAddress()).toBe(before);
  });

  test('of another account is refused, to the owner of the address alone', async () => {
    await addPerson(wanted);
    expect(await sends()).toBe(null);
    expect(await confirms(await tokenTo(wanted))).toMatchObject({ code: 'conflict' });
    expect(await ownAddress()).toBe(before);
  });

  test('needs a recent sign-in', async () => {
    await backend.withGraph(async (graph) => {
      const user = await graph.findBy('user', { email: before }, null);
      const where = [{ field: 'user', equals: user?.id ?? '' }] as const;
      const { nodes } = await graph.select({ type: 'browserSession', anchor: null, where, limit: 10 });
      const provenAt = Date.now() - 16 * 60_000;
      for (const { id } of nodes) {
        const session = parseId('browserSession', id);
        await graph.write((transaction) =>
          transaction.update('browserSession', session, { provenAt }, { anchor: null }),
        );
      }
    });
    expect(await sends()).toBe('forbidden');
  });

  test('is tried five times an hour, at any addresses', async () => {
    const codes = [];
    for (let i = 0; i < 6; i++) codes.push(await sends(`${i}-${wanted}`));
    expect(codes).toEqual([null, null, null, null, null, 'rate_limited']);
  });

  test.each(['x', 'a b@c', `${'x'.repeat(250)}@example.com`])('is refused for the text "%s"', async (text) => {
    expect(await sends(text)).toBe('invalid_input');
  });

  test.each(['x', 'eyJhIjoxfQ.k.s'])('is not changed by the token "%s"', async (token) => {
    expect(await confirms(token)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });
});
