import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { WorkspaceId } from '../../../contracts/ids.ts';
import type { Graph } from '../graph.ts';
import { type GraphAddress, openAt } from './graph-address.contract.ts';
import { allPages, type GraphEngine, ids, TestGraph } from './test-graph.contract.ts';

const rounds = 20;
const crashMs = 300_000;
const writer = fileURLToPath(new URL('./write-until-killed.contract.ts', import.meta.url));

export function crashContract(engine: GraphEngine): void {
  it(
    'of the process amid transactions loses nothing acknowledged and leaves nothing half',
    async () => {
      const test = await TestGraph.open(engine);
      await test.graph.close();
      let acknowledged = 0;
      for (let round = 0; round < rounds; round++) {
        // The kill comes at another point each time: the next transaction runs when the last line of the previous one
        // arrives.
        acknowledged = await killAfter(1 + round * 3, test.address, test.acme);
        const graph = await openAt(test.address);
        const stored = await checkWhole(graph, test.acme);
        expect(stored).toBeGreaterThanOrEqual(acknowledged);
        await graph.close();
      }
      expect(acknowledged).toBeGreaterThan(rounds);
    },
    crashMs,
  );
}

/** Kills the writer after it has printed `lines` numbers. Returns the number of the last acknowledged transaction. */
async function killAfter(lines: number, address: GraphAddress, workspace: WorkspaceId): Promise<number> {
  const child = spawn(process.execPath, [writer, JSON.stringify(address), workspace], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let last = 0;
  let seen = 0;
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    seen += 1;
    if (seen === lines) child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(seen).toBeGreaterThanOrEqual(lines);
  return last;
}

/** The number of stored transactions, each checked to be complete. The writer defines what one of them writes. */
async function checkWhole(graph: Graph, workspace: WorkspaceId): Promise<number> {
  const { revision = expect.fail() } = (await graph.find('workspace', workspace, null)) ?? {};
  const roles = await allPages(graph, { type: 'role', anchor: workspace, limit: 1000 });
  const skills = await allPages(graph, { type: 'skill', anchor: workspace, limit: 1000 });
  const numbers = Array.from({ length: revision }, (_, i) => String(i + 1));
  expect(roles.map(({ name }) => name).sort(byNumber)).toEqual(numbers);
  expect(skills.map(({ name }) => name).sort(byNumber)).toEqual(numbers);
  for (let start = 0; start < roles.length; start += 1000) {
    const some = roles.slice(start, start + 1000);
    const ends = await graph.follow({ from: 'role', edge: 'skills' }, ids(some), { anchor: workspace, limitEach: 2 });
    for (const { id, name } of some) expect(ends.get(id)).toMatchObject([{ name }]);
  }
  for (const search of numbers.slice(-3)) {
    expect((await graph.select({ type: 'role', anchor: workspace, search, limit: 1000 })).nodes).not.toEqual([]);
  }
  return revision;
}

function byNumber(one: string, other: string): number {
  return Number(one) - Number(other);
}
