import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

/** Dozens of bodies of 4 MiB, on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const waitMaxMs = 30_000;

let backend: TestBackend;
let greedy: string;
let other: string;
/** Workspaces in which `greedy` and `other` are editors. */
let workspaces: readonly WorkspaceId[];
const opened: Socket[] = [];

beforeAll(async () => {
  backend = await startTestBackend();
  const create =
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "o@localhost" }) { id } }';
  const created = [];
  for (const name of ['Greedy', 'Acme']) created.push((await backend.must(create, { name })).createWorkspace.id);
  workspaces = created;
  const tokens = created.map(async (id) => (await backend.addMember(id, 'editor')).token);
  [greedy = '', other = ''] = await Promise.all(tokens);
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(async () => (await ask(greedy, largestBody)) === 200);
});
afterAll(() => backend.stop());

const largest = 4 * 1024 * 1024;
const query = '{ viewer { id } }';
const largestBody = `{"query":"#${'x'.repeat(largest - query.length - 15)}\\n${query}"}`;

function post(token: string, question: object): string {
  const body = JSON.stringify(question);
  return head(token, body.length) + body;
}

const createRole = 'mutation ($w: ID!, $name: String!) { createRole(workspace: $w, input: { name: $name }) { id } }';
const createSkill =
  'mutation ($w: ID!, $name: String!, $text: String) { createSkill(workspace: $w, input: { name: $name, instructions: $text }) { id } }';

async function ask(token: string, body = JSON.stringify({ query })): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(`${backend.url}/graphql`, { method: 'POST', headers, body })).status;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitMaxMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`This does not become so within ${waitMaxMs / 1000} s.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A connection of a member on which the test writes each byte, and the received bytes. */
async function open(text: string) {
  const { hostname, port } = new URL(backend.url);
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  const heard = { text: '', socket };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    heard.text += chunk;
  });
  await once(socket, 'connect');
  socket.write(text);
  return heard;
}

/**
 * Whether a request is refused by its head. Any other request waits for its body; it `stays`, or the test closes it.
 */
async function isRefused(text: string, { stays = false } = {}): Promise<boolean> {
  const heard = await open(text);
  await Promise.race([once(heard.socket, 'data'), new Promise((resolve) => setTimeout(resolve, 300))]);
  if (!stays) heard.socket.destroy();
  return heard.text.includes('HTTP/1.1 429');
}

function head(token: string, length: number, path = '/graphql'): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', 'content-type: application/json', `content-length: ${length}`];
  return `${[...lines, `authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n`;
}

const refusals = (all: readonly { readonly text: string }[], status: number) =>
  all.filter(({ text }) => text.includes(`HTTP/1.1 ${status}`));

test('endless bodies hold the share of their user, and no other user is affected', async () => {
  const begun = await Promise.all(Array.from({ length: 60 }, () => open(head(greedy, largest))));
  await until(() => refusals(begun, 429).length === 55);
  expect(refusals(begun, 429)[0]?.text).toContain('This user may hold at most 67108864 bytes of memory at once.');
  expect(await ask(greedy, largestBody)).toBe(429);
  expect(await ask(other, largestBody)).toBe(200);
  expect(await ask(greedy)).toBe(200);
});

test('a user has a limited number of connections, and others connect', async () => {
  const small = `${head(greedy, query.length + 12)}${JSON.stringify({ query })}`;
  const all = await Promise.all(Array.from({ length: 600 }, () => open(small)));
  await until(() => refusals(all, 200).length + refusals(all, 429).length === 600);
  expect(refusals(all, 429).length).toBeGreaterThanOrEqual(88);
  expect(await ask(other)).toBe(200);
});

test('a body of a million values is refused before it is parsed', async () => {
  const body = `{"query":"${query}","variables":{"x":[${'{},'.repeat(1_000_000)}{}]}}`;
  const heard = await open(head(greedy, body.length) + body);
  await until(() => heard.text.includes('holds more than'));
  expect(heard.text).toContain('HTTP/1.1 400');
  expect(heard.text).toMatch(/The body holds more than \d+ values\./);
});

test('a body without its length is refused, and its connection ends when it arrives in small chunks', async () => {
  const chunked = head(greedy, 0).replace('content-length: 0', 'transfer-encoding: chunked');
  const heard = await open(`${chunked}${'1\r\nx\r\n'.repeat(50_000)}`);
  await until(() => opened.at(-1)?.destroyed === true);
  expect(heard.text).toContain('HTTP/1.1 411');
});

test('unauthenticated requests are answered before their body arrives, on every path', async () => {
  const statuses: string[] = [];
  for (const path of ['/graphql', '/nothing', '/files/x']) {
    const heard = await open(head('nonsense', largest, path));
    await until(() => heard.text !== '');
    statuses.push(heard.text.slice(9, 12));
  }
  expect(statuses).toEqual(['401', '404', '404']);
});

test('an answer holds memory until its client reads it', async () => {
  const [w] = workspaces;
  const text = 'x'.repeat(256 * 1024);
  for (let i = 0; i < 5; i++) {
    const variables = { w, name: `large-${i}`, text };
    expect((await backend.ask({ query: createSkill, variables, token: greedy })).errors).toEqual([]);
  }
  const question = { query: `{ workspace(id: "${w}") { skills { nodes { instructions } } } }` };
  // One more body would fit beside these, which arrive as slowly as allowed.
  await Promise.all(Array.from({ length: 4 }, () => open(head(greedy, largest))));
  const bodies = opened.slice(-4);
  const coming = setInterval(() => {
    for (const socket of bodies) socket.write('x'.repeat(64 * 1024));
  }, 2000);
  const unread: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    await open('');
    unread.push(...opened.slice(-1));
    opened.at(-1)?.pause();
  }
  // The system's buffers take the first answers. A request holds more memory while it is answered, so they are sent one
  // after the other.
  let refusedInARow = 0;
  await until(async () => {
    for (const socket of refusedInARow === 0 ? unread : []) {
      socket.write(post(greedy, question));
      for (let i = 0; i < 10; i++) await ask(other);
    }
    refusedInARow = (await isRefused(head(greedy, largest))) ? refusedInARow + 1 : 0;
    return refusedInARow === 5;
  }).finally(() => clearInterval(coming));
  expect(await ask(other, largestBody)).toBe(200);
});

test('a change without memory for its answer is not made', async () => {
  const [w] = workspaces;
  const create = { query: createRole, variables: { w, name: 'Unmade' } };
  // Three bytes of memory each: one mebibyte is left once earlier requests are over.
  await Promise.all(Array.from({ length: 5 }, () => open(head(greedy, largest))));
  await until(async () => !(await isRefused(head(greedy, 1024 * 1024), { stays: true })));
  const refused = await open(post(greedy, create));
  await until(() => refused.text !== '');
  expect(refused.text).toContain('"code":"rate_limited"');
  const found = await backend.must(`{ workspace(id: "${w}") { role(name: "Unmade") { id } } }`);
  expect(found.workspace.role).toBe(null);
});

test("a user has a limited number of running operations, and other users' changes are made soon", async () => {
  const [w, victims] = workspaces;
  const flood = Array.from({ length: 500 }, (_, i) =>
    [0, 1, 2].map((j) => post(greedy, { query: createRole, variables: { w, name: `Role ${i} ${j}` } })).join(''),
  );
  const all = await Promise.all(flood.map((text) => open(text)));
  const began = performance.now();
  const { errors } = await backend.ask({ query: createRole, variables: { w: victims, name: 'Mine' }, token: other });
  expect(errors).toEqual([]);
  expect(performance.now() - began).toBeLessThan(3000);
  const count = (pattern: RegExp) => all.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
  await until(() => count(/HTTP\/1\.1 \d/g) === 1500);
  expect(count(/This user may hold at most 32 running operations at once\./g)).toBeGreaterThan(0);
  expect(count(/HTTP\/1\.1 200/g)).toBeGreaterThan(0);
  expect(count(/changes are waiting/g)).toBe(0);
});
