import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectRuntime, type TestRuntime } from './test-runtime.ts';

/**
 * A member with all the pages and runtimes that the platform admits. Other people must not notice what they follow, nor
 * what they leave unread.
 */
let backend: TestBackend;
let home: WorkspaceId;
let member: Browser;
let other: Browser;
let runtimes: readonly TestRuntime[];

/** Of a workspace. */
const runtimesMax = 20;
/** Of a person. */
const pagesMax = 32;
const watchedMs = 4000;

beforeAll(async () => {
  backend = await startTestBackend();
  home = await addWorkspace('Home', 'member@example.com');
  await addWorkspace('Away', 'other@example.com');
  [member, other] = [await signIn('member@example.com'), await signIn('other@example.com')];
  runtimes = await Promise.all(Array.from({ length: runtimesMax }, (_, i) => addRuntime(`own-${i}`)));
});
afterAll(() => backend.stop());

async function addWorkspace(name: string, ownerEmail: string): Promise<WorkspaceId> {
  const query = 'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { id } }';
  return (await backend.must(query, { i: { name, ownerEmail } })).createWorkspace.id;
}

async function signIn(email: string): Promise<Browser> {
  const { createSignInLink } = await backend.must(`mutation { createSignInLink(email: "${email}") { url } }`);
  const browser = new Browser(backend.url);
  await browser.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  return browser;
}

async function addRuntime(name: string): Promise<TestRuntime> {
  const query = 'mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { secret } }';
  const { registerRuntime } = await backend.must(query, { w: home, n: name });
  return await connectRuntime(backend, { kind: 'runtime', key: new Secret(registerRuntime.secret) });
}

/** Every runtime beats as often as an honest one at most. */
function beatAll(): () => void {
  const beating = setInterval(() => {
    for (const { beat } of runtimes) beat(5000);
  }, 50);
  return () => clearInterval(beating);
}

async function openPage(): Promise<WebSocket> {
  const cookie = [...member.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
  const headers = { origin: 'http://localhost:8888', cookie };
  const socket = new WebSocket(backend.url.replace('http', 'ws') + graphqlPath, 'graphql-transport-ws', { headers });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  return socket;
}

function subscribe(socket: WebSocket, fields = 'id available lastHeartbeatAt versions'): void {
  const query = `subscription ($w: ID!) { runtimeStates(workspace: $w) { ${fields} } }`;
  for (let id = 0; id < 8; id++) {
    socket.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query, variables: { w: home } } }));
  }
}

test('hundreds of subscriptions to many heartbeats are told what a few pages would be', {
  timeout: 60_000,
}, async () => {
  const pages = await Promise.all(Array.from({ length: pagesMax }, openPage));
  let told = 0;
  for (const page of pages) {
    page.on('message', () => told++);
    subscribe(page);
  }
  const began = performance.now();
  const stopBeating = beatAll();
  while (performance.now() - began < watchedMs) {
    expect((await other.post(graphqlPath, { query: '{ viewer { id } }' })).status).toBe(200);
    await pause(10);
  }
  stopBeating();
  const tookMs = performance.now() - began;
  await Promise.all(
    pages.map((page) => {
      page.close();
      return once(page, 'close');
    }),
  );
  expect(told).toBeGreaterThan(pagesMax);
  expect(told / tookMs).toBeLessThan(1);
});

test('a page that does not read is cut off before much waits for it', { timeout: 120_000 }, async () => {
  const page = await openPage();
  const { _socket: connection } = page as unknown as { _socket: Socket };
  const ended = new Promise<void>((resolve) => connection.on('close', () => resolve()));
  page.on('error', () => undefined);
  connection.pause();
  // It sends what a page that reads would send to stay connected.
  const staying = setInterval(() => page.pong(), 200);
  // Fills what the system keeps for both ends.
  subscribe(page, Array.from({ length: 45 }, (_, i) => `${'a'.repeat(98)}${i}: name`).join(' '));
  const stopBeating = beatAll();
  await pause(watchedMs);
  // The backend answers each with the same text. It permits so many again after ten seconds.
  const ask = () => {
    for (let i = 0; i < 80; i++) page.send(JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(16_000) } }));
  };
  ask();
  const asking = setInterval(ask, 11_000);
  await ended;
  clearInterval(asking);
  clearInterval(staying);
  stopBeating();
});
