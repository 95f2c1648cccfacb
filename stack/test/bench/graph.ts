import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogue } from '../../../services/backend/catalogue/read-catalogue.ts';
import { openAt } from '../../../services/backend/graph/contract/graph-address.contract.ts';
import { keyNode, skillNode, workspaceNode } from '../../../services/backend/graph/contract/sample-nodes.contract.ts';
import type { GraphEngine } from '../../../services/backend/graph/contract/test-graph.contract.ts';
import { TestCluster } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import type { Graph } from '../../../services/backend/graph/graph.ts';
import { newId, type WorkspaceId } from '../../../services/contracts/ids.ts';
import { missingFor } from './bench-platform.ts';
import { atMost, type Figure, medianMs, skipped } from './figure.ts';
import { timeOf } from './load.ts';
import { perSide, ratio } from './sides.ts';

const sizes = [10, 1000, 100_000];
const pageLength = 100;
const rounds = 50;
/** The bound of the graph's contract: a look-up that reads all nodes takes about a hundred times as long. */
const growthMax = 3;

/** What the backend asks of a graph most, in small graphs and in a large one, with each engine. */
export async function measureGraph(): Promise<Figure[]> {
  await using ends = new AsyncDisposableStack();
  const folder = ends.adopt(await mkdtemp(join(tmpdir(), 'svc-bench-graph-')), (path) => rm(path, { recursive: true }));
  let files = 0;
  const empty = async () => ({ url: `file:${join(folder, `${++files}.sqlite`)}` });
  const figures = await measureEngine({ name: 'SQLite', empty });
  const missing = await missingFor({ graph: 'dgraph' });
  if (missing !== null) return [...figures, skipped('look-ups in Dgraph', missing)];
  const cluster = ends.adopt(await TestCluster.start(join(folder, 'dgraph')), (started) => started.stop());
  return [...figures, ...(await measureEngine({ name: 'Dgraph', empty: () => cluster.emptyGraph() }))];
}

async function measureEngine(engine: GraphEngine): Promise<Figure[]> {
  await using ends = new AsyncDisposableStack();
  const graphs: FilledGraph[] = [];
  for (const size of sizes) graphs.push(ends.adopt(await fill(engine, size), ({ graph }) => graph.close()));
  const figures: Figure[] = [];
  for (const [name, lookUp] of Object.entries(lookUps)) {
    const what = `${engine.name}, ${name}`;
    const times = await perSide(graphs, (filled, round) => timeOf(() => found(lookUp(filled, round))), rounds);
    figures.push(...Object.entries(times).map(([size, all]) => medianMs(`${what}: ${size} skills`, all)));
    const growth = ratio(times, '100,000', '1,000');
    figures.push(atMost(`${what}: 100,000 skills against 1,000`, growth, growthMax, '×'));
  }
  return figures;
}

/** A look-up that finds nothing is fast at any size. */
async function found(nodes: Promise<number>): Promise<void> {
  if ((await nodes) === 0) throw new Error('A look-up found nothing.');
}

type FilledGraph = Awaited<ReturnType<typeof fill>>;

/** Each returns the number of nodes that it found. */
const lookUps: Readonly<Record<string, (filled: FilledGraph, round: number) => Promise<number>>> = {
  'key check': async ({ graph, digest }) => Number((await graph.findBy('key', { digest }, 'everywhere')) !== null),
  'page of 100 skills': async ({ graph, workspace, size }, round) => {
    // Each round takes another page: the cost of a page may depend on its place in an index.
    const prefix = nameOf(Math.floor((round / rounds) * size)).slice(0, -String(pageLength - 1).length);
    const where = [{ field: 'name', prefix }] as const;
    const selection = { type: 'skill', anchor: workspace, where, orderBy: 'name', limit: pageLength } as const;
    return (await graph.select(selection)).nodes.length;
  },
  "pull of another workspace's catalogue": async ({ graph, beside }) => {
    const workspace = await graph.find('workspace', beside, null);
    let last: string | undefined;
    if (workspace !== null)
      for await (const slice of readCatalogue(graph, workspace, { appliesRules: true })) last = slice.at(-1)?.entry;
    return Number(last === 'end');
  },
  'change of one node': async ({ graph, workspace }, revision) => {
    await graph.write((transaction) => transaction.update('workspace', workspace, { revision }, { anchor: null }));
    return 1;
  },
};

/** A graph with many skills in one workspace, and in another workspace always the same number. */
async function fill(engine: GraphEngine, size: number) {
  const graph = await openAt(await engine.empty());
  const [workspace, beside] = [newId('workspace'), newId('workspace')];
  const { digest } = await graph.write(async (transaction) => {
    for (const id of [workspace, beside]) await transaction.create('workspace', workspaceNode({ id }));
    return await transaction.create('key', keyNode(workspace));
  });
  await addSkills(graph, beside, pageLength);
  await addSkills(graph, workspace, size);
  return { name: size.toLocaleString('en'), size, graph, workspace, beside, digest };
}

/** In an order that is not that of their names. */
async function addSkills(graph: Graph, workspace: WorkspaceId, count: number): Promise<void> {
  const batch = 1000;
  for (let start = 0; start < count; start += batch) {
    await graph.write(async (transaction) => {
      for (let i = start; i < Math.min(start + batch, count); i++) {
        await transaction.create('skill', skillNode(workspace, { name: nameOf((i * 7919) % count) }));
      }
    });
  }
}

function nameOf(number: number): string {
  return `skill ${String(number).padStart(6, '0')}`;
}
