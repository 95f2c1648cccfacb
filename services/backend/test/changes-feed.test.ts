import type { Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { subjects } from '../../contracts/bus/subjects.ts';
import { tooManyMessagesCode, tryAgainCode } from '../../contracts/close-codes.ts';
import { newProcessId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, connectRuntime, type TestRuntime } from './test-runtime.ts';

let backend: TestBackend;
let ann: UserId;
let home: WorkspaceId;
let away: WorkspaceId;
const open: Pick<Page, 'client'>[] = [];
let count = 0;

beforeAll(async () => {
  backend = await startTestBackend();
  [home, ann] = await addWorkspace('Home', 'ann@example.com');
  [away] = await addWorkspace('Away', 'bob@example.com');
});
afterEach(async () => {
  for (const page of open.splice(0)) await page.client.dispose();
});
afterAll(() => backend.stop());

async function addWorkspace(name: string, email: string): Promise<[WorkspaceId, UserId]> {
  const { createWorkspace } = await backend.must(
    'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { id owner { id } } }',
    { i: { name, ownerEmail: email } },
  );
  return [createWorkspace.id, createWorkspace.owner.id];
}

async function signIn(email = 'ann@example.com'): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  const browser = new Browser(backend.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

interface Seen {
  readonly kind: string;
  readonly revision: number | null;
}

interface Page<News = Seen> {
  readonly client: Client;
  readonly seen: News[];
  /** Errors of the subscription. */
  readonly errors: string[];
  /** Why the socket closed, or null. */
  readonly closed: () => { readonly code: number; readonly reason: string } | null;
}

const socketUrl = () => `${backend.url.replace('http', 'ws')}${graphqlPath}`;
const cookieOf = ({ cookies }: Browser) => [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');

/** Opens a page that follows a workspace, with the client that browsers use. */
function openPage<News = Seen>(
  browser: Browser,
  { workspace = home, origin = 'http://localhost:8888', query = changes } = {},
): Page<News> {
  const headers = { cookie: cookieOf(browser), origin };
  const seen: News[] = [];
  const errors: string[] = [];
  let closed: ReturnType<Page['closed']> = null;
  const client = createClient({
    url: socketUrl(),
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, { headers });
      }
    },
    retryAttempts: 0,
    lazy: true,
    on: {
      closed: (event) => {
        const { code, reason } = event as { code: number; reason: string };
        closed = { code, reason };
      },
    },
  });
  client.subscribe<Record<string, News>>(
    { query, variables: { w: workspace } },
    {
      next: ({ data, errors: refused = [] }) => {
        if (data != null) seen.push(...Object.values(data));
        for (const { extensions } of refused) errors.push(String(extensions?.code));
      },
      error: (thrown) => {
        if (Array.isArray(thrown)) for (const { extensions } of thrown) errors.push(String(extensions?.code));
      },
      complete: () => undefined,
    },
  );
  const page = { client, seen, errors, closed: () => closed };
  open.push(page);
  return page;
}

const changes = 'subscription ($w: ID) { changes(workspace: $w) { kind revision } }';

const change = (workspace: WorkspaceId) =>
  backend.must('mutation ($w: ID!, $n: String!) { createRole(workspace: $w, input: { name: $n }) { id } }', {
    w: workspace,
    n: `role-${++count}`,
  });

const revisionOf = async (id: WorkspaceId): Promise<number> =>
  (await backend.must('query ($w: ID!) { workspace(id: $w) { revision } }', { w: id })).workspace.revision;

describe('an open page', () => {
  test('gets the present version first, then each change of its workspace, within a second', async () => {
    const before = await revisionOf(home);
    const page = openPage(await signIn());
    await expect.poll(() => page.seen).toEqual([{ kind: 'catalogue', revision: before }]);
    await change(away);
    await change(home);
    await expect
      .poll(() => page.seen, { timeout: 1000 })
      .toEqual([
        { kind: 'catalogue', revision: before },
        { kind: 'catalogue', revision: before + 1 },
      ]);
  });

  test('gets a burst of changes as a few messages, the last one included', async () => {
    const page = openPage(await signIn());
    await expect.poll(() => page.seen).toHaveLength(1);
    for (let i = 0; i < 30; i++) await change(home);
    const last = await revisionOf(home);
    await expect.poll(() => page.seen.at(-1)?.revision).toBe(last);
    expect(page.seen.length).toBeLessThan(20);
  });

  test('of a member learns, also in another workspace, that a workspace is closed, opened and renamed', async () => {
    const [other] = await addWorkspace('Other', 'ann@example.com');
    const page = openPage(await signIn(), { workspace: other });
    await expect.poll(() => page.seen).toHaveLength(1);
    const update = (input: string) =>
      backend.must(`mutation ($w: ID!) { updateWorkspace(id: $w, input: { ${input} }) { id } }`, { w: home });
    const told: Seen[] = [];
    for (const input of ['suspended: true', 'suspended: false', 'name: "Home again"', 'name: "Home"']) {
      await update(input);
      told.push({ kind: 'account', revision: null });
      await expect.poll(() => page.seen.slice(1), { timeout: 1000 }).toEqual(told);
    }
  });

  test('of a member learns, also in another workspace, that a workspace is removed', async () => {
    const [other, gone] = [
      await addWorkspace('Stays', 'ann@example.com'),
      await addWorkspace('Goes', 'ann@example.com'),
    ];
    const [page, open] = [
      openPage(await signIn(), { workspace: other[0] }),
      openPage(await signIn(), { workspace: gone[0] }),
    ];
    await expect.poll(() => [page.seen.length, open.seen.length]).toEqual([1, 1]);
    await backend.must('mutation ($w: ID!) { removeWorkspace(id: $w) }', { w: gone[0] });
    await expect.poll(() => page.seen.slice(1), { timeout: 1000 }).toEqual([{ kind: 'account', revision: null }]);
    await expect.poll(() => open.errors, { timeout: 1000 }).toEqual(['not_found']);
  });

  test('closes at once when its session ends, with a code of its own', async () => {
    const browser = await signIn();
    const page = openPage(browser);
    await expect.poll(() => page.seen).toHaveLength(1);
    await browser.copy().post('/account/sign-out', {});
    await expect.poll(page.closed, { timeout: 1000 }).toMatchObject({ code: 4401 });
    const again = openPage(browser);
    await expect.poll(again.closed).not.toBe(null);
    expect(again.seen).toEqual([]);
  });

  test('of one person stays open when another session of the person ends', async () => {
    const page = openPage(await signIn());
    await expect.poll(() => page.seen).toHaveLength(1);
    await (await signIn()).post('/account/sign-out', {});
    await expect.poll(() => page.seen.at(-1)).toEqual({ kind: 'account', revision: null });
    expect(page.closed()).toBe(null);
  });

  test('learns no more when its membership is suspended', async () => {
    const email = 'carl@example.com';
    const { addMember } = await backend.must(
      'mutation ($w: ID!, $i: MemberInput!) { addMember(workspace: $w, input: $i) { id } }',
      { w: home, i: { email, role: 'viewer' } },
    );
    const page = openPage(await signIn(email));
    await expect.poll(() => page.seen).toHaveLength(1);
    await backend.must(
      'mutation ($w: ID!, $m: ID!) { updateMember(workspace: $w, id: $m, input: { suspended: true }) { id } }',
      { w: home, m: addMember.id },
    );
    await expect.poll(() => page.errors).toEqual(['forbidden']);
    const known = page.seen.length;
    await change(home);
    await expect.poll(() => page.seen.length).toBe(known);
  });

  test('follows nothing of a workspace of others', async () => {
    const page = openPage(await signIn(), { workspace: away });
    await expect.poll(() => page.errors).toEqual(['not_found']);
    await change(away);
    expect(page.seen).toEqual([]);
  });
});

describe('a page that follows runtimes', () => {
  interface Told {
    readonly id: string;
    readonly available: boolean;
    readonly lastHeartbeatAt: number | null;
  }
  const query = 'subscription ($w: ID!) { runtimeStates(workspace: $w) { id available lastHeartbeatAt } }';
  const follow = (browser: Browser, workspace = home) => openPage<Told>(browser, { workspace, query });

  async function connectOwn(workspace: WorkspaceId): Promise<TestRuntime> {
    const { registerRuntime } = await backend.must(
      'mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { secret } }',
      { w: workspace, n: `runtime-${++count}` },
    );
    return await connectRuntime(backend, { kind: 'runtime', key: new Secret(registerRuntime.secret) });
  }

  /** Follows until the runtime is heard: a page is not told what was before. */
  async function heard({ seen }: Page<Told>, { runtime, beat }: TestRuntime): Promise<Told | undefined> {
    seen.length = 0;
    await expect
      .poll(() => {
        beat(5000);
        return seen.map(({ id }) => id);
      })
      .toContain(runtime);
    return seen.findLast(({ id }) => id === runtime);
  }

  test('is told of each heartbeat and of the end, of its own runtimes and of those of the platform', async () => {
    const page = follow(await signIn());
    for (const runtime of [await connectOwn(home), await connectCloudRuntime(backend)]) {
      const before = Date.now();
      const told = await heard(page, runtime);
      expect(told?.available).toBe(true);
      expect(told?.lastHeartbeatAt).toBeGreaterThanOrEqual(before - 1);
      page.seen.length = 0;
      await runtime.bus.close();
      await expect.poll(() => page.seen, { timeout: 1000 }).toMatchObject([{ id: runtime.runtime, available: false }]);
    }
  });

  test('is told nothing of the runtimes of others', async () => {
    const [own, foreign] = [await connectOwn(home), await connectOwn(away)];
    const page = follow(await signIn());
    for (let i = 0; i < 3; i++) {
      foreign.beat(5000);
      await heard(page, own);
      expect(page.seen.filter(({ id }) => id === foreign.runtime)).toEqual([]);
    }
    await own.bus.close();
    await foreign.bus.close();
  });

  test('gets a burst of heartbeats as a few messages', async () => {
    const own = await connectOwn(home);
    const page = follow(await signIn());
    await heard(page, own);
    page.seen.length = 0;
    for (let i = 0; i < 500; i++) own.beat(5000);
    await heard(page, own);
    expect(page.seen.length).toBeLessThan(20);
    await own.bus.close();
  });

  test('is refused in a workspace of others, and when its membership ends', async () => {
    const stranger = follow(await signIn(), away);
    await expect.poll(() => stranger.errors).toEqual(['not_found']);
    const email = 'dora@example.com';
    const { addMember } = await backend.must(
      'mutation ($w: ID!, $i: MemberInput!) { addMember(workspace: $w, input: $i) { id } }',
      { w: home, i: { email, role: 'viewer' } },
    );
    const own = await connectOwn(home);
    const page = follow(await signIn(email));
    await heard(page, own);
    await backend.must('mutation ($w: ID!, $m: ID!) { removeMember(workspace: $w, id: $m) }', {
      ...{ w: home, m: addMember.id },
    });
    page.seen.length = 0;
    own.beat(5000);
    await expect.poll(() => page.errors).toEqual(['not_found']);
    expect(page.seen).toEqual([]);
    await own.bus.close();
  });
});

describe('a socket is refused', () => {
  const tryOpen = (headers: Record<string, string>, path = graphqlPath) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(backend.url.replace('http', 'ws') + path, 'graphql-transport-ws', { headers });
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => {
        socket.close();
        resolve(101);
      });
      socket.on('error', () => undefined);
    });
  const origin = 'http://localhost:8888';

  test('without a session, from another origin, without an origin, to operators, at another path', async () => {
    const cookie = cookieOf(await signIn());
    expect(await tryOpen({ origin, cookie })).toBe(101);
    expect(await tryOpen({ origin })).toBe(401);
    expect(await tryOpen({ origin, cookie: cookie.replaceAll('=', '=x') })).toBe(401);
    expect(await tryOpen({ origin: 'https://evil.example', cookie })).toBe(403);
    expect(await tryOpen({ cookie })).toBe(403);
    expect(await tryOpen({ authorization: `Bearer ${await backend.operatorToken()}` })).toBe(501);
    expect(await tryOpen({ origin, cookie }, '/other')).toBe(404);
  });

  test('beyond 32 of one person, while another person opens one', async () => {
    const cookie = cookieOf(await signIn());
    const sockets = await Promise.all(
      Array.from({ length: 32 }, async () => {
        const socket = new WebSocket(socketUrl(), 'graphql-transport-ws', { headers: { origin, cookie } });
        await new Promise((resolve) => socket.on('open', resolve));
        return socket;
      }),
    );
    expect(await tryOpen({ origin, cookie })).toBe(429);
    expect(await tryOpen({ origin, cookie: cookieOf(await signIn('bob@example.com')) })).toBe(101);
    for (const socket of sockets) socket.close();
    await expect.poll(() => tryOpen({ origin, cookie })).toBe(101);
  });
});

describe('while the backend cannot read its sessions', () => {
  test('a page is told to connect again, not that its session has ended, and then follows the changes', async () => {
    const browser = await signIn();
    const page = openPage(browser);
    await expect.poll(() => page.seen).toHaveLength(1);
    const bus = await backend.hub.connect({ kind: 'backend' }, newProcessId());
    const database = new DatabaseSync(backend.graphFile);
    const rename = (from: string, to: string) => database.exec(`alter table "${from}" rename to "${to}"`);
    rename('browserSession', 'unreadable');
    try {
      bus.publish(subjects.account(ann), new Uint8Array());
      await expect.poll(() => page.closed()).toMatchObject({ code: tryAgainCode });
    } finally {
      rename('unreadable', 'browserSession');
      database.close();
      await bus.close();
    }
    const next = openPage(browser);
    await expect.poll(() => next.seen).toHaveLength(1);
  });
});

describe('a message is refused', () => {
  test('that is no subscription, or is none of ours', async () => {
    const browser = await signIn();
    for (const [query, code] of [
      ['{ viewer { id } }', 'unsupported'],
      ['mutation { createSignInLink(email: "a@b") { url } }', 'unsupported'],
      ['subscription { nothing }', 'invalid_input'],
      ['subscription {', 'invalid_input'],
      [
        `subscription { ${Array.from({ length: 60 }, (_, i) => `a${i}: changes { kind }`).join(' ')} }`,
        'invalid_input',
      ],
    ] as const) {
      const page = openPage(browser, { query });
      await expect.poll(() => [query, page.errors]).toEqual([query, [code]]);
    }
  });

  test('the ninth subscription, the hundredth message, and a large one', async () => {
    const headers = { origin: 'http://localhost:8888', cookie: cookieOf(await signIn()) };
    const connect = async () => {
      const socket = new WebSocket(socketUrl(), 'graphql-transport-ws', { headers });
      const heard: string[] = [];
      const closed = new Promise<number>((resolve) => socket.on('close', resolve));
      socket.on('message', (data) => heard.push(String(data)));
      await new Promise((resolve) => socket.on('open', resolve));
      socket.send('{"type":"connection_init"}');
      await expect.poll(() => heard).toEqual(['{"type":"connection_ack"}']);
      return { socket, heard, closed };
    };
    const subscribe = (id: number) => JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query: changes } });
    const many = await connect();
    for (let id = 0; id < 9; id++) many.socket.send(subscribe(id));
    await expect.poll(() => many.heard.filter((text) => text.includes('rate_limited'))).toHaveLength(1);
    for (let i = 0; i < 100; i++) many.socket.send('{"type":"ping"}');
    expect(await many.closed).toBe(tooManyMessagesCode);
    const large = await connect();
    large.socket.send(JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(20_000) } }));
    expect(await large.closed).toBe(1009);
  });

  test('after too many, also where the sender goes on and leaves out its part of the closing handshake', async () => {
    const headers = { origin: 'http://localhost:8888', cookie: cookieOf(await signIn()) };
    const socket = new WebSocket(socketUrl(), 'graphql-transport-ws', { headers });
    await new Promise((resolve) => socket.on('open', resolve));
    socket.on('error', () => undefined);
    // Sends on the connection below the library, which would answer.
    const { _socket: connection } = socket as unknown as { _socket: Socket };
    const ended = new Promise((resolve) => connection.on('close', resolve));
    connection.removeAllListeners('data');
    connection.on('error', () => undefined).resume();
    // A masked frame with the text "x" (RFC 6455 §5.2).
    const frame = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78]);
    const before = performance.now();
    const sending = setInterval(() => connection.write(Buffer.concat(Array.from({ length: 200 }, () => frame))), 5);
    await ended;
    clearInterval(sending);
    expect(performance.now() - before).toBeLessThan(5000);
  });

  test('over HTTP', async () => {
    const { code } = await backend.ask({
      query: 'subscription { changes { kind } }',
      token: await backend.userToken(ann),
    });
    expect(code).toBe('unsupported');
  });
});

test('a stopping backend closes the pages, which then connect elsewhere', async () => {
  const other = await startTestBackend();
  await other.must('mutation { createWorkspace(input: { name: "A", ownerEmail: "a@b" }) { id } }');
  const { createSignInLink } = await other.must('mutation { createSignInLink(email: "a@b") { url } }');
  const browser = new Browser(other.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  const headers = { origin: 'http://localhost:8888', cookie: cookieOf(browser) };
  const connect = async () => {
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}${graphqlPath}`, 'graphql-transport-ws', {
      headers,
    });
    await new Promise((resolve) => socket.on('open', resolve));
    return socket;
  };
  const [socket, deaf] = [await connect(), await connect()];
  // Its end never answers.
  deaf.pause();
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const began = performance.now();
  await other.stop();
  expect(await closed).toBe(1001);
  expect(performance.now() - began).toBeLessThan(2000);
});
