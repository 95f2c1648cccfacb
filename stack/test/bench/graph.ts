import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogue } from '../../../services/backend/catalogue/read-catalogue.ts';
import type { GraphContent } from '../../../services/backend/graph/content.ts';
import { type GraphAddress, openAt } from '../../../services/backend/graph/contract/graph-address.contract.ts';
import { keyNode, skillNode, workspaceNode } from '../../../services/backend/graph/contract/sample-nodes.contract.ts';
import { findDgraph, TestCluster } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import type { Graph } from '../../../services/backend/graph/graph.ts';
import type { NodeRecord } from '../../../services/backend/graph/node-record.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { newId, type WorkspaceId } from '../../../services/contracts/ids.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import { type Figure, medianMs, reported } from './figure.ts';
import { timeOf } from './processes.ts';

const sizes = [10, 1000, 100_000] as const;
const pageLength = 100;
const rounds = 50;

interface Engine {
  readonly name: string;
  empty(): Promise<GraphAddress>;
  content(address: GraphAddress): Promise<GraphContent>;
}

/** What the backend asks of a graph most, in a small one and in a large one, of both engines. */
export async function measureGraph(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-graph-'));
  const cluster = findDgraph() === null ? null : await TestCluster.start(join(folder, 'dgraph'));
  try {
    const engines = [sqliteIn(folder), ...(cluster === null ? [] : [dgraphIn(cluster)])];
    if (cluster === null) process.stderr.write('without dgraph on the path, SQLite alone is measured\n');
    const figures: Figure[] = [];
    for (const engine of engines) {
      for (const size of sizes) figures.push(...(await measureOne(engine, size)));
    }
    return figures;
  } finally {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureOne(engine: Engine, size: number): Promise<Figure[]> {
  const address = await engine.empty();
  const { workspace, beside, digest, seconds } = await fill(engine, address, size);
  const graph = await openAt(address);
  const where = `${engine.name}, ${size.toLocaleString('en')} skills`;
  try {
    const keyCheck = await timesOf(() => graph.findBy('key', { digest }, 'everywhere'));
    const page = await timesOf((round) => pageAt(graph, workspace, (round / rounds) * size));
    const pull = await timesOf(() => pullCatalogue(graph, beside));
    const write = await timesOf(() =>
      graph.write((transaction) => transaction.update('workspace', workspace, { revision: 1 }, { anchor: null })),
    );
    return [
      medianMs(`key check: ${where}`, keyCheck),
      medianMs(`page of ${pageLength} skills by name: ${where}`, page),
      medianMs(`pull of another workspace's catalogue, ${pageLength} skills: ${where}`, pull),
      medianMs(`a change of one node: ${where}`, write),
      reported(`to fill it: ${where}`, seconds, 's'),
    ];
  } finally {
    await graph.close();
  }
}

/** Skills whose names are spread, in one workspace; and beside it one that is always the same. */
async function fill(engine: Engine, address: GraphAddress, size: number) {
  const [workspace, beside] = [newId('workspace'), newId('workspace')];
  const key = keyNode(workspace, { digest: 'the digest of a key' });
  async function* nodes(): AsyncGenerator<NodeRecord> {
    yield recordOf('workspace', workspaceNode({ id: workspace }));
    yield recordOf('key', key);
    yield recordOf('workspace', workspaceNode({ id: beside }));
    for (let i = 0; i < pageLength; i++) yield skillOf(beside, i);
    for (let i = 0; i < size; i++) yield skillOf(workspace, (i * 7919) % size);
  }
  const start = performance.now();
  const content = await engine.content(address);
  await content.addNodes(nodes());
  await content.finish();
  await content.close();
  return { workspace, beside, digest: key.digest, seconds: (performance.now() - start) / 1000 };
}

function skillOf(workspace: WorkspaceId, number: number): NodeRecord {
  const said = { name: nameOf(number), description: 'What it does', instructions: 'How' };
  return recordOf('skill', skillNode(workspace, said));
}

function nameOf(number: number): string {
  return `skill ${String(number).padStart(6, '0')}`;
}

/** Each time another one: how much of an index is looked through for a page depends on where it is. */
async function pageAt(graph: Graph, workspace: WorkspaceId, number: number): Promise<unknown> {
  const prefix = nameOf(Math.floor(number)).slice(0, -String(pageLength - 1).length);
  const selection = { type: 'skill', anchor: workspace, orderBy: 'name', limit: pageLength } as const;
  return await graph.select({ ...selection, where: [{ field: 'name', prefix }] });
}

async function pullCatalogue(graph: Graph, id: WorkspaceId): Promise<void> {
  const workspace = await graph.find('workspace', id, null);
  if (workspace === null) throw new Error('the workspace is gone');
  let last: string | undefined;
  for await (const slice of readCatalogue(graph, workspace)) last = slice.at(-1)?.entry;
  if (last !== 'end') throw new Error('the catalogue changed while it was read');
}

export function recordOf(type: string, node: Readonly<Record<string, unknown>>): NodeRecord {
  const { id, workspace = null, ...values } = node;
  return { type, id: String(id), version: 1, workspace, values } as NodeRecord;
}

async function timesOf(work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await timeOf(() => work(round)));
  return times;
}

function sqliteIn(folder: string): Engine {
  let files = 0;
  return {
    name: 'SQLite',
    empty: async () => ({ url: `file:${join(folder, `${++files}.sqlite`)}` }),
    content: ({ url }) => openGraphContent({ engine: 'sqlite', file: url.slice('file:'.length), readOnly: false }),
  };
}

function dgraphIn(cluster: TestCluster): Engine {
  return {
    name: 'Dgraph',
    empty: () => cluster.emptyGraph(),
    content: ({ password = '', ...address }) =>
      openGraphContent({ engine: 'dgraph', ...address, password: new Secret(password), readOnly: false }),
  };
}
