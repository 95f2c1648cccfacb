import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { connectAgent } from '../../stack/test/agent.ts';
import { until } from '../../stack/test/until.ts';
import { withRunningPlatform } from './running-platform.ts';

const { svc } = withRunningPlatform();
const json = async (...args: string[]) => JSON.parse((await svc(...args, '--json')).stdout);

beforeAll(async () => {
  const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
  await svc('server', 'add', 'demo', '--', process.execPath, demo);
  await svc('skill', 'create', 'adds', '--tool', 'demo/add');
  await svc('role', 'create', 'Adder', '--skill', 'adds');
  const { key } = await json('keys', 'create', '--name', 'laptop');
  const { urls } = await json('status');
  const agent = await connectAgent(urls.mcp, key);
  await agent.text('load_skill', { skill: 'adds' });
  await agent.text('add', { a: 1, b: 2 });
  await agent.text('add', { a: 'x', b: 2 }).catch(() => undefined);
  await agent.client.close();
  await until(async () => (await json('usage')).usage[0]?.calls === 2);
}, 60_000);

test('svc usage adds up calls and errors by tool, key, skill and MCP server', async () => {
  for (const [by, name] of [
    ['tool', 'add'],
    ['key', 'laptop'],
    ['skill', 'adds'],
    ['server', 'demo'],
  ] as const) {
    expect(await json('usage', '--by', by)).toEqual({
      by,
      usage: [{ name, calls: 2, errors: 1, durationMs: expect.any(Number) }],
    });
  }
  const { stdout } = await svc('usage', '--by', 'key');
  expect(stdout).toMatch(/^KEY +CALLS +ERRORS +AVERAGE\nlaptop +2 +1 +\d+ ms\n$/);
});

test('svc audit shows changes by person and calls by key, the latest first', async () => {
  const { stdout } = await svc('audit');
  const rows = stdout.trimEnd().split('\n').slice(1);
  const whats = rows.map((row) => row.replace(/^\S+ \S+ +(\S+) +/, '$1: '));
  const operator = whats[0]?.split(':')[0];
  expect(whats.slice(0, 4)).toEqual([
    `${operator}: created key laptop`,
    `${operator}: created role Adder`,
    `${operator}: created skill adds`,
    `${operator}: created MCP server demo`,
  ]);
  expect(whats).toContain('laptop: called add 2 times, 1 failed');
  const { entries } = await json('audit', '--lines', '1');
  expect(entries).toEqual([
    {
      kind: 'change',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      ...{ by: operator, action: 'create', subjectKind: 'key', subject: 'laptop' },
      changes: { roles: { to: 'all' }, disclosure: { to: 'skills' }, expiresAt: { to: null } },
    },
  ]);
});

test('a time without entries is told, and a wrong flag is refused', async () => {
  expect(await svc('audit', '--since', '2999-01-01')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Nothing happened since 2999-01-01T00:00:00.000Z.\n',
  });
  expect(await svc('usage', '--by', 'day')).toMatchObject({
    code: 2,
    stderr: 'Error: --by must be tool or key or skill or server, not "day".\n',
  });
});
