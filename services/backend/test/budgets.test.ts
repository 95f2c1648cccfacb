import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let greedy: string;
let other: string;
const opened: Socket[] = [];

beforeAll(async () => {
  backend = await startTestBackend();
  const create =
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "o@localhost" }) { id } }';
  const memberOf = async (name: string) => {
    const { createWorkspace } = await backend.must(create, { name });
    return (await backend.addMember(createWorkspace.id as WorkspaceId, 'viewer')).token;
  };
  [greedy, other] = [await memberOf('Greedy'), await memberOf('Acme')];
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(async () => (await ask(greedy, largestBody)) === 200);
});
afterAll(() => backend.stop());

const largest = 4 * 1024 * 1024;
const query = '{ viewer { id } }';
const largestBody = `{"query":"#${'x'.repeat(largest - query.length - 15)}\\n${query}"}`;

async function ask(token: string, body = JSON.stringify({ query })): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(`${backend.url}/graphql`, { method: 'POST', headers, body })).status;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A connection of a member who writes each byte, and what comes back. */
async function open(text: string) {
  const { hostname, port } = new URL(backend.url);
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  const heard = { text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    heard.text += chunk;
  });
  await once(socket, 'connect');
  socket.write(text);
  return heard;
}

function head(token: string, length: number, path = '/graphql'): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', 'content-type: application/json', `content-length: ${length}`];
  return `${[...lines, `authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n`;
}

const refusals = (all: readonly { readonly text: string }[], status: number) =>
  all.filter(({ text }) => text.includes(`HTTP/1.1 ${status}`));

test('bodies that never end hold the share of their user, which no other user notices', async () => {
  const begun = await Promise.all(Array.from({ length: 60 }, () => open(head(greedy, largest))));
  await until(() => refusals(begun, 429).length === 55);
  expect(refusals(begun, 429)[0]?.text).toContain('This user may hold at most 67108864 bytes of memory at once.');
  expect(await ask(greedy, largestBody)).toBe(429);
  expect(await ask(other, largestBody)).toBe(200);
  expect(await ask(greedy)).toBe(200);
});

test('a user has so many connections, and others get in', async () => {
  const small = `${head(greedy, query.length + 12)}${JSON.stringify({ query })}`;
  const all = await Promise.all(Array.from({ length: 600 }, () => open(small)));
  await until(() => refusals(all, 200).length + refusals(all, 429).length === 600);
  expect(refusals(all, 429).length).toBeGreaterThan(80);
  expect(await ask(other)).toBe(200);
});

test('a body of a million values is refused before it is parsed', async () => {
  const body = `{"query":"${query}","variables":{"x":[${'{},'.repeat(1_000_000)}{}]}}`;
  expect(await ask(greedy, body)).toBe(400);
});

test('a body without its length is refused, and its connection ends where it comes in small chunks', async () => {
  const chunked = head(greedy, 0).replace('content-length: 0', 'transfer-encoding: chunked');
  const heard = await open(`${chunked}${'1\r\nx\r\n'.repeat(50_000)}`);
  await until(() => opened.at(-1)?.destroyed === true);
  expect(heard.text).toContain('HTTP/1.1 411');
});

test('strangers are answered before their body comes, whatever the path', async () => {
  const statuses: string[] = [];
  for (const path of ['/graphql', '/nothing', '/files/x']) {
    const heard = await open(head('nonsense', largest, path));
    await until(() => heard.text !== '');
    statuses.push(heard.text.slice(9, 12));
  }
  expect(statuses).toEqual(['401', '404', '404']);
});
