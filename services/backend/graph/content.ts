import { hash } from 'node:crypto';
import type { NodeRecord } from './node-record.ts';
import { checkEdge, checkId, checkNode, typeNamed, type Values } from './node-rules.ts';
import { type FieldKind, idKindOf, type NodeType, schema, type TypeName } from './schema.ts';

export type { NodeRecord } from './node-record.ts';
export type { TypeName } from './schema.ts';

/** The records of a graph that no backend has open. Backup, restore and move copy them from one engine to another. */
export interface GraphContent {
  /** All nodes of a type, in an order of the engine's choice. */
  nodes(type: TypeName): AsyncIterable<NodeRecord>;
  edges(from: TypeName, edge: string): AsyncIterable<EdgeRecord>;
  addNodes(nodes: AsyncIterable<NodeRecord>): Promise<void>;
  /** Both ends of each edge must exist. */
  addEdges(from: TypeName, edge: string, edges: AsyncIterable<EdgeRecord>): Promise<void>;
  /** Called after the last addition: before it, no backend accepts the graph. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export interface EdgeRecord {
  readonly source: string;
  readonly target: string;
}

/** The number of records of one kind, and their digest. The digest is the same on each engine, in any order. */
export interface KindOfContent {
  /** A node type, `edge.TYPE.NAME`, or `graph` for everything. */
  readonly kind: string;
  readonly count: number;
  readonly digest: string;
}

/** How one kind differs from an earlier reading. */
export interface ChangesOfKind {
  readonly kind: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

const types = Object.entries(schema) as readonly (readonly [TypeName, NodeType])[];

/** The tally of each kind that has records, ordered by name: `graph` first. */
export async function readContent(
  content: Pick<GraphContent, 'nodes' | 'edges'>,
  signal?: AbortSignal,
): Promise<readonly KindOfContent[]> {
  const nowhere = {
    addNodes: drain,
    addEdges: (_from: string, _edge: string, edges: AsyncIterable<EdgeRecord>) => drain(edges),
  };
  return await pour(content, nowhere, signal);
}

/** Copies everything from one graph into an empty one. Returns the tallies, as `readContent` does. */
export async function carryContent(
  from: Pick<GraphContent, 'nodes' | 'edges'>,
  to: Pick<GraphContent, 'addNodes' | 'addEdges' | 'finish'>,
  signal?: AbortSignal,
): Promise<readonly KindOfContent[]> {
  const carried = await pour(from, to, signal);
  await to.finish();
  return carried;
}

async function pour(
  from: Pick<GraphContent, 'nodes' | 'edges'>,
  to: Pick<GraphContent, 'addNodes' | 'addEdges'>,
  signal: AbortSignal | undefined,
): Promise<readonly KindOfContent[]> {
  const tally = new Tally(signal);
  for (const [type] of types) await to.addNodes(tally.counting(type, from.nodes(type), nodeLine(type)));
  for (const [type, { edges }] of types) {
    for (const edge of Object.keys(edges)) {
      await to.addEdges(type, edge, tally.counting(edgeKind(type, edge), from.edges(type, edge), edgeLine));
    }
  }
  return tally.kinds();
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items);
}

/** The kinds that differ between two readings. `before` may be an archive, whose kinds are read in this order. */
export async function changesBetween(
  before: Pick<GraphContent, 'nodes' | 'edges'>,
  now: Pick<GraphContent, 'nodes' | 'edges'>,
): Promise<readonly ChangesOfKind[]> {
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

/** Checks a node that comes from outside the platform. Throws `invalid_input` if this version could not have written it. */
export function checkRecord(type: TypeName, { id, version, workspace, values }: Omit<NodeRecord, 'type'>): NodeRecord {
  const owner = typeNamed(type).owned ? { workspace } : {};
  const checked = checkNode(type, { ...values, ...owner, id });
  return { type, id, version, workspace: owner.workspace ?? null, values: checked };
}

/** The values of a node that an earlier version wrote. A field that it did not know has the value that a migration gives it. */
export function valuesSince(type: TypeName, values: Values): Values {
  const fields: Readonly<Record<string, FieldKind>> = typeNamed(type).fields;
  const added = Object.entries(fields).map(([field, kind]) => [field, valueWhenAdded[kind]]);
  return { ...Object.fromEntries(added), ...values };
}

const valueWhenAdded: Readonly<Record<FieldKind, Values[string]>> = {
  ...{ text: '', integer: 0, boolean: false, time: 0 },
  ...{ 'text?': null, 'integer?': null, 'time?': null },
};

/** Checks an edge that comes from outside the platform: both ends have ids of the right kind. */
export function checkEdgeRecord(from: TypeName, edge: string, { source, target }: EdgeRecord): EdgeRecord {
  checkId(idKindOf[from], source);
  checkId(idKindOf[checkEdge(from, edge) as TypeName], target);
  return { source, target };
}

/** Counts records and adds up their digests: a sum does not depend on the order. */
class Tally {
  readonly #signal: AbortSignal | undefined;
  readonly #kinds = new Map<string, { count: number; sum: bigint }>();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  async *counting<Item>(
    kind: string,
    items: AsyncIterable<Item>,
    lineOf: (item: Item) => Line,
  ): AsyncGenerator<Item, void> {
    const all = { count: 0, sum: 0n };
    this.#kinds.set(kind, all);
    for await (const item of items) {
      this.#signal?.throwIfAborted();
      all.count += 1;
      all.sum = BigInt.asUintN(digestBits, all.sum + BigInt(`0x${hash('sha256', lineOf(item).line)}`));
      yield item;
    }
  }

  kinds(): readonly KindOfContent[] {
    const kinds = [...this.#kinds]
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count, sum }]) => ({ kind, count, digest: sum.toString(16).padStart(digestBits / 4, '0') }))
      .sort((one, other) => (one.kind < other.kind ? -1 : 1));
    const count = kinds.reduce((sum, kind) => sum + kind.count, 0);
    const digest = hash('sha256', kinds.map((kind) => `${Object.values(kind).join(' ')}\n`).join(''));
    return [{ kind: 'graph', count, digest }, ...kinds];
  }
}

const digestBits = 256;

/** The key of a record, and its line with all values. */
interface Line {
  readonly name: string;
  readonly line: string;
}

function kindsOf(content: Pick<GraphContent, 'nodes' | 'edges'>): readonly (readonly [string, AsyncIterable<Line>])[] {
  const edgesOf = ([type, { edges }]: (typeof types)[number]) =>
    Object.keys(edges).map((edge) => [edgeKind(type, edge), lines(content.edges(type, edge), edgeLine)] as const);
  return [
    ...types.map(([type]) => [type, lines(content.nodes(type), nodeLine(type))] as const),
    ...types.flatMap(edgesOf),
  ];
}

async function* lines<Item>(items: AsyncIterable<Item>, lineOf: (item: Item) => Line): AsyncGenerator<Line> {
  for await (const item of items) yield lineOf(item);
}

function nodeLine(type: TypeName): (node: NodeRecord) => Line {
  const fields = Object.keys(schema[type].fields);
  return ({ id, version, workspace, values }) => ({
    name: id,
    line: JSON.stringify([id, version, workspace, ...fields.map((field) => values[field] ?? null)]),
  });
}

function edgeLine({ source, target }: EdgeRecord): Line {
  const line = JSON.stringify([source, target]);
  return { name: line, line };
}

function edgeKind(type: TypeName, edge: string): string {
  return `edge.${type}.${edge}`;
}
