import { afterEach, expect, test, vi } from 'vitest';
import { newId, type WorkspaceId } from '../contracts/ids.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { Graph } from './graph/graph.ts';
import { addWorkspace, openTestBackend } from './test/open-test-backend.ts';

afterEach(() => vi.useRealTimers());

const dayMs = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => Date.now() - days * dayMs;

async function addHistory(graph: Graph, workspace: WorkspaceId, at: number): Promise<void> {
  await graph.write(async (transaction) => {
    await transaction.create('activity', {
      ...{ id: newId('activity', at), workspace, at, actor: 'operator', actorName: 'root', action: 'create' },
      ...{ subject: 'x', subjectKind: 'skill', subjectName: 'x', changes: '{}' },
    });
    await transaction.create('usage', {
      ...{ id: newId('usage', at), workspace, hour: at, slot: `${at}`, key: 'k', tool: 't', skill: null },
      ...{ mcpServer: 'm', calls: 1, errors: 0, durationMs: 1 },
    });
  });
}

test('activity and usage older than HISTORY_DAYS are removed in every workspace, and the rest stays', async () => {
  const backend = await openTestBackend({ HISTORY_DAYS: '30' });
  const { graph } = backend;
  const [acme, other] = [(await addWorkspace(backend, 'acme')).id, (await addWorkspace(backend, 'other')).id];
  const made = await graph.count({ type: 'activity', anchor: 'everywhere', limit: 1 });
  // More records than one transaction removes.
  for (let count = 0; count < 250; count++) await addHistory(graph, acme, daysAgo(40) + count);
  await addHistory(graph, other, daysAgo(31));
  for (const workspace of [acme, other]) await addHistory(graph, workspace, daysAgo(29));

  vi.useFakeTimers({ toFake: ['setInterval'] });
  const collecting = collectGarbage(backend);
  vi.advanceTimersByTime(10 * 60_000);
  vi.useRealTimers();
  const counts = () =>
    Promise.all((['activity', 'usage'] as const).map((type) => graph.count({ type, anchor: 'everywhere', limit: 1 })));
  await expect.poll(counts, { timeout: 15_000 }).toEqual([made + 2, 2]);
  await collecting.stop();
  for (const workspace of [acme, other]) {
    const { nodes } = await graph.select({ type: 'usage', anchor: workspace, limit: 10 });
    expect(nodes.map(({ hour }) => hour > daysAgo(30))).toEqual([true]);
  }
  await backend.close();
});
