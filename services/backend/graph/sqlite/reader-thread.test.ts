import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import type { Graph } from '../graph.ts';
import { openSqliteGraph } from './sqlite-graph.ts';

let folder = '';
let graph: Graph;
const workspace = newId('workspace');
const roles = 200;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-reader-'));
  graph = await openSqliteGraph({ file: join(folder, 'graph.sqlite') });
  await graph.write(async (transaction) => {
    for (let i = 0; i < roles; i++) {
      const name = `role-${i}`;
      await transaction.create('role', {
        id: newId('role'),
        workspace,
        name,
        description: '',
        enabled: true,
        toolLimit: null,
        createdAt: i,
      });
    }
  });
});
afterAll(async () => {
  await graph.close();
  await rm(folder, { recursive: true, force: true });
});

const threads = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Worker' || name === 'MessagePort').length;

test('few rows are read here and many in a thread, which ends when idle and starts again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const before = threads();
    const few = await graph.select({ type: 'role', anchor: workspace, limit: 10 });
    expect(few.nodes.length).toBe(10);
    expect(threads()).toBe(before);
    const many = () => graph.select({ type: 'role', anchor: workspace, limit: 1000 });
    expect((await many()).nodes.length).toBe(roles);
    expect(threads()).toBeGreaterThan(before);
    vi.advanceTimersByTime(60_000);
    // The question arrives while the thread ends, so a new thread answers it.
    expect((await many()).nodes.length).toBe(roles);
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(() => expect(threads()).toBe(before), { timeout: 5000 });
  } finally {
    vi.useRealTimers();
  }
});

test('a read in the reader thread gives the same result', async () => {
  const by = (limit: number) => graph.select({ type: 'role', anchor: workspace, limit, orderBy: 'name' });
  const whole = await by(1000);
  const pages = [];
  for (
    let page = await by(7);
    ;
    page = await graph.select({ type: 'role', anchor: workspace, limit: 7, orderBy: 'name', after: page.next })
  ) {
    pages.push(...page.nodes);
    if (page.next === null) break;
  }
  expect(pages).toEqual(whole.nodes);
});
