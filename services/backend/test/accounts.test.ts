import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
const email = 'ann@example.com';
let ann: UserId;
let workspace: WorkspaceId;

beforeAll(async () => {
  backend = await startTestBackend();
  const made = await backend.must(
    `mutation { createWorkspace(input: { name: "Acme", ownerEmail: "${email}" }) { id owner { id } } }`,
  );
  ann = made.createWorkspace.owner.id;
  workspace = made.createWorkspace.id;
});
afterAll(() => backend.stop());

/** The token in a new sign-in link. */
async function newToken(): Promise<string> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  return new URL(createSignInLink.url).hash.replace('#token=', '');
}

async function signIn(headers: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const browser = new Browser(backend.url, headers);
  const { status } = await browser.post('/account/link', { token: await newToken() });
  expect(status).toBe(200);
  return browser;
}

const sessions = () =>
  backend.withGraph((graph) =>
    graph.select({ type: 'browserSession', anchor: null, where: [{ field: 'user', equals: ann }], limit: 100 }),
  );

/** Moves the times of Ann's sessions back. */
async function age(field: 'refreshedAt' | 'expiresAt', byMs: number): Promise<void> {
  const { nodes } = await sessions();
  await backend.withGraph((graph) =>
    graph.write(async (transaction) => {
      for (const node of nodes) {
        await transaction.update('browserSession', node.id, { [field]: node[field] - byMs }, { anchor: null });
      }
    }),
  );
}

describe('a sign-in link', () => {
  test('opens the page, with its token where no server sees it', async () => {
    const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: " ANN@example.com") { url } }`);
    const { origin, pathname, search, hash } = new URL(createSignInLink.url);
    expect([origin, pathname, search]).toEqual(['http://localhost:8888', '/sign-in', '']);
    expect(hash).toMatch(/^#token=lnk_/);
  });

  test('signs its person in, once', async () => {
    const token = await newToken();
    const browser = new Browser(backend.url);
    const { status, body } = await browser.post('/account/link', { token });
    expect([status, body]).toEqual([200, { user: { id: ann, email, name: 'ann' } }]);
    expect(await browser.signedInAs()).toBe(ann);
    const again = await new Browser(backend.url).post('/account/link', { token });
    expect([again.status, again.body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test('is used by one of two browsers at the same moment', async () => {
    const token = await newToken();
    const post = () => new Browser(backend.url).post('/account/link', { token });
    const statuses = await Promise.all([post(), post(), post()]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  test('is refused when it has expired, was changed, or was made for another purpose', async () => {
    const token = await newToken();
    await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        const { nodes } = await transaction.select({ type: 'signInLink', anchor: null, limit: 100 });
        for (const { id } of nodes)
          await transaction.update('signInLink', id, { expiresAt: Date.now() }, { anchor: null });
      }),
    );
    const other = await signIn();
    const [id, ...signature] = (await newToken()).split('.');
    const wrong = [
      token,
      `${newId('signInLink')}.${signature.join('.')}`,
      `${id}.${'x'.repeat(50)}`,
      `${id}`,
      '',
      other.cookies.get(other.nameOf('refresh'))?.value,
    ];
    for (const text of wrong) {
      const answer = await new Browser(backend.url).post('/account/link', { token: text });
      expect([text, answer.status]).toEqual([text, 401]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  test('is one of ten at most; the oldest ends', async () => {
    const tokens = [];
    for (let i = 0; i < 11; i++) tokens.push(await newToken());
    const [oldest, next] = tokens;
    expect((await new Browser(backend.url).post('/account/link', { token: oldest })).status).toBe(401);
    expect((await new Browser(backend.url).post('/account/link', { token: next })).status).toBe(200);
  });

  test('replaces another person in a browser only when asked to, and stays valid until then', async () => {
    await backend.must(
      'mutation { createWorkspace(input: { name: "Other", ownerEmail: "other@example.com" }) { id } }',
    );
    const { createSignInLink } = await backend.must(
      'mutation { createSignInLink(email: "other@example.com") { url } }',
    );
    const token = new URL(createSignInLink.url).hash.slice('#token='.length);
    const browser = await signIn();
    const before = [...browser.cookies];
    const refused = await browser.post('/account/link', { token });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect(refused.body.error.message).toMatch(/^You are signed in as \S+, and the link is for other@example.com\.$/);
    expect([...browser.cookies]).toEqual(before);
    // The same person may use another link.
    expect((await browser.post('/account/link', { token: await newToken() })).status).toBe(200);
    const answer = await browser.post('/account/link', { token, replaces: true });
    expect(answer.body.user.email).toBe('other@example.com');
  });

  test('is made for known people only', async () => {
    const token = await backend.operatorToken();
    const query = 'mutation { createSignInLink(email: "nobody@example.com") { url } }';
    expect((await backend.ask({ query, token })).code).toBe('not_found');
  });

  test('appears in no log', async () => {
    const token = await newToken();
    await new Browser(backend.url).post('/account/link', { token });
    await new Browser(backend.url).post('/account/link', { token });
    expect(backend.logged.join('')).not.toContain(token.split('.').at(-1));
  });
});

describe('the cookies', () => {
  test('cannot be read by scripts, and no other site sends the refresh token', async () => {
    const browser = await signIn();
    const attributes = Object.fromEntries(
      [...browser.cookies].map(([name, cookie]) => [name.replace(/^svc-[0-9a-f]{8}-/, ''), cookie.attributes]),
    );
    expect(attributes).toEqual({
      access: 'Max-Age=900; Path=/; SameSite=Lax; HttpOnly',
      refresh: 'Max-Age=604800; Path=/; SameSite=Strict; HttpOnly',
    });
  });

  test('are bound to their host and to https, where the platform has it', async () => {
    const secure = await startTestBackend({
      PUBLIC_BACKEND_URL: 'https://svc.example.com',
      PUBLIC_FRONTEND_URL: 'https://svc.example.com',
      CORS_ORIGINS: 'https://svc.example.com',
    });
    await secure.must('mutation { createWorkspace(input: { name: "A", ownerEmail: "a@b" }) { id } }');
    const { createSignInLink } = await secure.must('mutation { createSignInLink(email: "a@b") { url } }');
    const browser = new Browser(secure.url, { origin: 'https://svc.example.com' });
    await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
    expect(
      [...browser.cookies].map(([name, { attributes }]) => [name.replace(/[0-9a-f]{8}/, '*'), attributes]),
    ).toEqual([
      ['__Host-svc-*-access', 'Max-Age=900; Path=/; SameSite=Lax; HttpOnly; Secure'],
      ['__Host-svc-*-refresh', 'Max-Age=604800; Path=/; SameSite=Strict; HttpOnly; Secure'],
    ]);
    await secure.stop();
  });

  test('live as JWT_ACCESS_TOKEN_TTL and JWT_REFRESH_TOKEN_TTL say, after a link at PUBLIC_FRONTEND_URL', async () => {
    const other = await startTestBackend({
      ...{ JWT_ACCESS_TOKEN_TTL: '60', JWT_REFRESH_TOKEN_TTL: '120' },
      ...{ PUBLIC_FRONTEND_URL: 'http://app.example.com', CORS_ORIGINS: 'http://app.example.com' },
    });
    await other.must('mutation { createWorkspace(input: { name: "A", ownerEmail: "a@b" }) { id } }');
    const { createSignInLink } = await other.must('mutation { createSignInLink(email: "a@b") { url } }');
    const { origin, hash } = new URL(createSignInLink.url);
    expect(origin).toBe('http://app.example.com');
    const browser = new Browser(other.url, { origin });
    await browser.post('/account/link', { token: hash.slice('#token='.length) });
    const ages = [...browser.cookies].map(([, { attributes }]) => attributes.split('; ')[0]);
    expect(ages).toEqual(['Max-Age=60', 'Max-Age=120']);
    const [, claims = ''] = browser.cookies.get(browser.nameOf('access'))?.value.split('.') ?? [];
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(Math.abs(exp - Date.now() / 1000 - 60)).toBeLessThan(5);
    await other.withGraph(async (graph) => {
      const { nodes } = await graph.select({ type: 'browserSession', anchor: null, limit: 2 });
      expect(nodes.map(({ createdAt, expiresAt }) => expiresAt - createdAt)).toEqual([120_000]);
    });
    await other.stop();
  });

  test('of another backend on the same host have other names', async () => {
    const names = await Promise.all(
      ['http://localhost:3000', 'http://localhost:3100'].map(async (url) => {
        const other = await startTestBackend({ PUBLIC_BACKEND_URL: url });
        await other.must('mutation { createWorkspace(input: { name: "A", ownerEmail: "a@b" }) { id } }');
        const { createSignInLink } = await other.must('mutation { createSignInLink(email: "a@b") { url } }');
        const browser = new Browser(other.url);
        await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
        await other.stop();
        return browser.nameOf('access');
      }),
    );
    expect(new Set(names).size).toBe(2);
  });
});

describe('a refresh', () => {
  test('replaces both tokens, and the session goes on', async () => {
    const browser = await signIn();
    const before = browser.copy();
    expect((await browser.post('/account/refresh', {})).status).toBe(204);
    expect(browser.cookies.get(browser.nameOf('refresh'))).not.toEqual(before.cookies.get(before.nameOf('refresh')));
    expect(await browser.signedInAs()).toBe(ann);
    expect((await browser.post('/account/refresh', {})).status).toBe(204);
  });

  test('of several tabs at the same moment gives all of them the same token', async () => {
    const browser = await signIn();
    const tabs = [browser.copy(), browser.copy(), browser.copy()];
    const answers = await Promise.all(tabs.map((tab) => tab.post('/account/refresh', {})));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    const tokens = tabs.map((tab) => tab.cookies.get(tab.nameOf('refresh'))?.value);
    expect(new Set(tokens).size).toBe(1);
    expect((await (tabs[0] as Browser).post('/account/refresh', {})).status).toBe(204);
  });

  test('with a token that was replaced a while ago ends the session: somebody copied it', async () => {
    const thief = await signIn();
    const owner = thief.copy();
    expect((await owner.post('/account/refresh', {})).status).toBe(204);
    await age('refreshedAt', 31_000);
    expect((await thief.post('/account/refresh', {})).status).toBe(401);
    expect((await owner.post('/account/refresh', {})).status).toBe(401);
    expect(await owner.signedInAs()).toBe(null);
  });

  test('with a token of two refreshes ago ends the session at once', async () => {
    const thief = await signIn();
    const owner = thief.copy();
    await owner.post('/account/refresh', {});
    await owner.post('/account/refresh', {});
    expect((await thief.post('/account/refresh', {})).status).toBe(401);
    expect(await owner.signedInAs()).toBe(null);
  });

  test('is refused without a token, and with a text that is none', async () => {
    const browser = await signIn();
    const name = browser.nameOf('refresh');
    const [id, generation, ...signature] = browser.cookies.get(name)?.value.split('.') ?? [];
    for (const value of [
      '',
      'x',
      `${id}.2.${signature.join('.')}`,
      `${newId('browserSession')}.1.${signature.join('.')}`,
    ]) {
      browser.cookies.set(name, { value, attributes: '' });
      expect([value, (await browser.post('/account/refresh', {})).status]).toEqual([value, 401]);
    }
    expect(generation).toBe('1');
    expect(await browser.signedInAs()).toBe(ann);
  });

  test('is refused once the session has expired', async () => {
    const browser = await signIn();
    await age('expiresAt', 604_800_000);
    expect((await browser.post('/account/refresh', {})).status).toBe(401);
    expect(await browser.signedInAs()).toBe(null);
  });
});

describe('a session', () => {
  test('ends at once when its person signs out', async () => {
    const browser = await signIn();
    const copied = browser.copy();
    expect((await browser.post('/account/sign-out', {})).status).toBe(204);
    expect(browser.cookies.size).toBe(0);
    expect(await copied.signedInAs()).toBe(null);
    expect((await copied.post('/account/refresh', {})).status).toBe(401);
    expect((await browser.post('/account/sign-out', {})).status).toBe(204);
  });

  test('is one of fifty at most; the oldest ends', async () => {
    const first = await signIn();
    for (let i = 0; i < 50; i++) await signIn();
    expect((await sessions()).nodes).toHaveLength(50);
    expect(await first.signedInAs()).toBe(null);
  });

  test('names its browser in known words', async () => {
    await signIn({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 <b>' });
    expect((await sessions()).nodes.at(-1)?.device).toBe('Firefox on Linux');
  });

  test('has the rights of its person, also to change', async () => {
    const browser = await signIn();
    const query = 'mutation ($w: ID!) { createRole(workspace: $w, input: { name: "reader" }) { name } }';
    const { body } = await browser.post(graphqlPath, { query, variables: { w: workspace } });
    expect(body).toEqual({ data: { createRole: { name: 'reader' } } });
  });
});

describe('other sites', () => {
  const query = { query: 'mutation ($w: ID!) { createRole(workspace: $w, input: { name: "x" }) { name } }' };

  test.each(['https://evil.example', 'null', 'http://localhost:8889', ''])(
    'cannot use the cookies: "%s"',
    async (origin) => {
      const browser = (await signIn()).copy({ origin });
      for (const path of ['/account/refresh', '/account/sign-out', '/account/link', graphqlPath]) {
        const answer = await browser.post(path, path === graphqlPath ? { ...query, variables: { w: workspace } } : {});
        expect([path, answer.status]).toEqual([path, 403]);
        expect(answer.headers.get('access-control-allow-origin')).toBe(null);
      }
      expect(await browser.copy({ origin: 'http://localhost:8888' }).signedInAs()).toBe(ann);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'cannot send a form: "%s"',
    async (type) => {
      const browser = await signIn();
      const answer = await browser.post('/account/refresh', '{}', { 'content-type': type });
      expect([type, answer.status]).toEqual([type, 415]);
    },
  );

  test('may not ask for permission to', async () => {
    const preflight = (origin: string) =>
      fetch(`${backend.url}/account/link`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
      });
    expect((await preflight('https://evil.example')).status).toBe(403);
    const own = await preflight('http://localhost:8888');
    expect([own.status, own.headers.get('access-control-allow-credentials')]).toEqual([204, 'true']);
  });
});

describe('a body', () => {
  test.each([
    ['that is no JSON', 'token=x', 400],
    ['that is a list', '[]', 400],
    ['without the field', '{}', 400],
    ['with a long token', JSON.stringify({ token: 'x'.repeat(300) }), 400],
    ['that is too large', JSON.stringify({ token: 'x'.repeat(20_000) }), 413],
  ])('%s is refused, and never quoted', async (_what, body, status) => {
    const answer = await new Browser(backend.url).post('/account/link', body);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('xxx');
  });
});
