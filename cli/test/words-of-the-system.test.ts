import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';

/** Error codes of the system, which no message may contain. */
const rawCode = /\bE[A-Z]{3,}[A-Z0-9]*\b|errno|syscall/;

let cwd = '';
const svc = (line: string, env: Readonly<Record<string, string>> = {}) => runSvc(line.split(' '), { cwd, env });

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-words-'));
  writeFileSync(join(cwd, 'file'), '');
  mkdirSync(join(cwd, 'folder'));
  expect((await svc('init there')).code).toBe(0);
  expect((await svc('init contained --topology distributed --engine docker')).code).toBe(0);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const rows: readonly (readonly [line: string, env: Readonly<Record<string, string>>])[] = [
  ['init /proc/svc', {}],
  ['init file', {}],
  ['init file/below', {}],
  ['status --dir nowhere', {}],
  ['status --dir file', {}],
  ['keys create --name x --dir there', {}],
  ['keys test --key-file folder --url http://127.0.0.1:1/mcp', {}],
  ['keys test --key-file nowhere --url http://127.0.0.1:1/mcp', {}],
  ['keys test --url http://127.0.0.1:1/mcp', { SVC_API_KEY: 'SVA_2jWsvnPnHCC3UpYjTZUwzcnCZ6p0hx41smJJ8RZKEzz1a3bwd' }],
  ['keys test --url https://127.0.0.1:1/mcp', { SVC_API_KEY: 'SVA_2jWsvnPnHCC3UpYjTZUwzcnCZ6p0hx41smJJ8RZKEzz1a3bwd' }],
  ['keys test --url http://name.invalid/mcp', { SVC_API_KEY: 'SVA_2jWsvnPnHCC3UpYjTZUwzcnCZ6p0hx41smJJ8RZKEzz1a3bwd' }],
  ['file add skill nowhere --dir there', {}],
  ['skill create x --instructions nowhere --dir there', {}],
  ['up --dir contained', { DOCKER_HOST: 'unix:///nowhere/docker.sock' }],
  ['up --dir contained', { DOCKER_HOST: 'unix:///dev/null' }],
];

test.each(rows)('"svc %s" explains the error in words', async (line, env) => {
  const { code, stdout, stderr } = await svc(line, env);
  expect(code).toBeGreaterThan(0);
  expect(`${stdout}${stderr}`).not.toMatch(rawCode);
});

test("a socket that is not Docker's, and a port that another program uses", async () => {
  const stranger = createServer((socket) => socket.destroy());
  const socket = join(cwd, 'stranger.sock');
  await new Promise<void>((resolve) => stranger.listen(socket, resolve));
  const { code, stderr } = await svc('up --dir contained', { DOCKER_HOST: `unix://${socket}` });
  expect([code, stderr]).toEqual([
    4,
    expect.stringContaining('gives an unexpected answer: the connection was closed by the other side'),
  ]);
  expect(stderr).not.toMatch(rawCode);
  await new Promise((resolve) => stranger.close(resolve));
});
