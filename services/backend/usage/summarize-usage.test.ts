import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyId, newId, type SkillId, type ToolId, type WorkspaceId } from '../../contracts/ids.ts';
import { hourMs } from '../../contracts/usage-hour.ts';
import { pageMax } from '../graph/graph.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { usageRowsMax } from './read-usage.ts';
import { largestShares, summarizeUsage } from './summarize-usage.ts';

let backend: TestBackend;
let workspace: WorkspaceId;
const [fast, slow] = [newId('tool'), newId('tool')];
const [laptop, server] = [newId('key'), newId('key')];
const skill = newId('skill');
const mcpServer = newId('mcpServer');
const start = Date.parse('2026-01-01T10:00:00Z');

interface Row {
  readonly hours: number;
  readonly tool?: ToolId;
  readonly key?: KeyId;
  readonly skill?: SkillId | null;
  readonly calls?: number;
  readonly errors?: number;
  readonly durationMs?: number;
}

async function add(of: WorkspaceId, rows: readonly Row[]): Promise<void> {
  await backend.graph.write(async (transaction) => {
    for (const { hours, ...row } of rows) {
      const id = newId('usage');
      const usual = { tool: fast, key: laptop, skill, calls: 1, errors: 0, durationMs: 10 };
      const at = { id, slot: id, workspace: of, hour: start + hours * hourMs, mcpServer };
      await transaction.create('usage', { ...usual, ...row, ...at });
    }
  });
}

beforeAll(async () => {
  backend = await openTestBackend();
  workspace = (await addWorkspace(backend, 'acme')).id;
  await add((await addWorkspace(backend, 'other')).id, [{ hours: 1, calls: 1000, errors: 1000 }]);
  await add(workspace, [
    { hours: -1, calls: 500 },
    { hours: 0, calls: 2, durationMs: 20 },
    { hours: 1, key: server, calls: 4, errors: 1, durationMs: 40 },
    { hours: 1, tool: slow, skill: null, calls: 2, errors: 2, durationMs: 9000 },
    { hours: 2, calls: 500 },
  ]);
});
afterAll(() => backend.close());

const twoHours = { from: start, to: start + 2 * hourMs };

test('the calls of a stretch are added up, without those before, after and of other workspaces', async () => {
  const { total, hours, isComplete } = await summarizeUsage(backend.graph, workspace, twoHours);
  expect({ total, isComplete }).toEqual({ total: { calls: 8, errors: 3, durationMs: 9060 }, isComplete: true });
  expect(hours).toEqual([
    { hour: start, calls: 2, errors: 0, durationMs: 20 },
    { hour: start + hourMs, calls: 6, errors: 3, durationMs: 9040 },
  ]);
});

test('the hour in which the stretch begins counts as a whole', async () => {
  const { total } = await summarizeUsage(backend.graph, workspace, { from: start + 1, to: start + hourMs });
  expect(total.calls).toBe(2);
});

describe('the largest shares', () => {
  test.each([
    ['tool', 'calls', [fast, slow]],
    ['tool', 'averageMs', [slow, fast]],
    ['tool', 'errors', [slow, fast]],
    ['key', 'errors', [laptop, server]],
    ['skill', 'calls', [skill, null]],
    ['skill', 'errors', [null, skill]],
    ['mcpServer', 'calls', [mcpServer]],
  ] as const)('of each %s by %s', async (by, order, ids) => {
    const summary = await summarizeUsage(backend.graph, workspace, twoHours);
    expect(largestShares(summary, { by, order, first: 10 }).map(({ id }) => id)).toEqual(ids);
    expect(largestShares(summary, { by, order, first: 1 })).toHaveLength(1);
  });

  test('by errors has none without errors', async () => {
    const summary = await summarizeUsage(backend.graph, workspace, { from: start, to: start + hourMs });
    expect(largestShares(summary, { by: 'tool', order: 'errors', first: 10 })).toEqual([]);
  });
});

test.each([
  [start, start],
  [start, start - hourMs],
  [start, start + 91 * 24 * hourMs],
  [-hourMs, start],
  [Number.NaN, start],
  [start, Number.NaN],
  [Number.NEGATIVE_INFINITY, start],
  [start, Number.POSITIVE_INFINITY],
])('the stretch from %d to %d is refused', async (from, to) => {
  await expect(summarizeUsage(backend.graph, workspace, { from, to })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('more rows than one sum reads are left out, the earliest first, and the sum says so', async () => {
  const { id: busy } = await addWorkspace(backend, 'busy');
  await add(busy, [{ hours: 0, calls: 7 }]);
  for (let rows = 0; rows < usageRowsMax; rows += pageMax) {
    await add(
      busy,
      Array.from({ length: pageMax }, () => ({ hours: 1 })),
    );
  }
  const { total, isComplete } = await summarizeUsage(backend.graph, busy, twoHours);
  expect({ calls: total.calls, isComplete }).toEqual({ calls: usageRowsMax, isComplete: false });
  const later = { from: start + hourMs, to: start + 2 * hourMs };
  expect(await summarizeUsage(backend.graph, busy, later)).toMatchObject({ isComplete: true });
}, 60_000);
