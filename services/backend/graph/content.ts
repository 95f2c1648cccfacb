import { createHash } from 'node:crypto';
import type { NodeRecord } from './node-record.ts';
import { type NodeType, schema, type TypeName } from './schema.ts';

/** What a graph keeps that no backend has open, as whoever moves an installation carries it from one engine to the other. */
export interface GraphContent {
  /** All of a type, in the order of ids. */
  nodes(type: TypeName): AsyncIterable<NodeRecord>;
  /** All of one name, in the order of both ends. */
  edges(from: TypeName, edge: string): AsyncIterable<EdgeRecord>;
  addNodes(nodes: AsyncIterable<NodeRecord>): Promise<void>;
  /** Between nodes that are there. */
  addEdges(from: TypeName, edge: string, edges: AsyncIterable<EdgeRecord>): Promise<void>;
  /** After the last of what was added: only then is it all there for a backend. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export interface EdgeRecord {
  readonly source: string;
  readonly target: string;
}

/** How much there is of one kind, and a digest over all of it: equal where it is the same to the last byte, whatever the engine. */
export interface KindOfContent {
  /** A node type, `edge.TYPE.NAME`, or `graph`: all of it. */
  readonly kind: string;
  readonly count: number;
  readonly digest: string;
}

/** What became of one kind since. */
export interface ChangesOfKind {
  readonly kind: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

const types = Object.entries(schema) as readonly (readonly [TypeName, NodeType])[];

/** Everything, by kind, in the order of the names: `graph` first, and no kind that nothing is of. */
export async function readContent(content: GraphContent, signal?: AbortSignal): Promise<readonly KindOfContent[]> {
  const kinds: KindOfContent[] = [];
  for (const [kind, lines] of kindsOf(content)) {
    const hash = createHash('sha256');
    let count = 0;
    for await (const { line } of heeding(lines, signal)) {
      hash.update(`${line}\n`);
      count += 1;
    }
    if (count > 0) kinds.push({ kind, count, digest: hash.digest('hex') });
  }
  kinds.sort((one, other) => (one.kind < other.kind ? -1 : 1));
  const whole = createHash('sha256').update(kinds.map((kind) => `${Object.values(kind).join(' ')}\n`).join(''));
  const count = kinds.reduce((sum, kind) => sum + kind.count, 0);
  return [{ kind: 'graph', count, digest: whole.digest('hex') }, ...kinds];
}

/** All that one graph has is put into the other, which has nothing. */
export async function carryContent(from: GraphContent, to: GraphContent, signal?: AbortSignal): Promise<void> {
  for (const [type] of types) await to.addNodes(heeding(from.nodes(type), signal));
  for (const [type, { edges }] of types) {
    for (const edge of Object.keys(edges)) await to.addEdges(type, edge, heeding(from.edges(type, edge), signal));
  }
  await to.finish();
}

/** What is there now and was not, or was otherwise, before, and what was there then; no kind that is as it was. */
export async function changesBetween(before: GraphContent, now: GraphContent): Promise<readonly ChangesOfKind[]> {
  const changes: ChangesOfKind[] = [];
  const then = new Map(kindsOf(before));
  for (const [kind, lines] of kindsOf(now)) {
    const old = new Map<string, string>();
    for await (const { name, line } of then.get(kind) ?? []) old.set(name, line);
    const counts = { added: 0, changed: 0 };
    for await (const { name, line } of lines) {
      const was = old.get(name);
      if (was === undefined) counts.added += 1;
      else if (was !== line) counts.changed += 1;
      old.delete(name);
    }
    if (counts.added + counts.changed + old.size > 0) changes.push({ kind, ...counts, removed: old.size });
  }
  return changes;
}

async function* heeding<Item>(items: AsyncIterable<Item>, signal: AbortSignal | undefined): AsyncGenerator<Item> {
  for await (const item of items) {
    signal?.throwIfAborted();
    yield item;
  }
}

/** What it is known by, and all of it. */
interface Line {
  readonly name: string;
  readonly line: string;
}

function kindsOf(content: GraphContent): readonly (readonly [string, AsyncIterable<Line>])[] {
  return types.flatMap(([type, { fields, edges }]) => [
    [type, nodeLines(content.nodes(type), Object.keys(fields))] as const,
    ...Object.keys(edges).map((edge) => [`edge.${type}.${edge}`, edgeLines(content.edges(type, edge))] as const),
  ]);
}

async function* nodeLines(nodes: AsyncIterable<NodeRecord>, fields: readonly string[]): AsyncGenerator<Line> {
  for await (const { id, version, workspace, values } of nodes) {
    yield { name: id, line: JSON.stringify([id, version, workspace, ...fields.map((field) => values[field] ?? null)]) };
  }
}

async function* edgeLines(edges: AsyncIterable<EdgeRecord>): AsyncGenerator<Line> {
  for await (const { source, target } of edges) {
    const line = JSON.stringify([source, target]);
    yield { name: line, line };
  }
}
