import { SvcError } from '../../../contracts/errors.ts';
import { beginMoment, type Cluster, type Moment } from './cluster.ts';
import { Aborted, Taken } from './cluster-errors.ts';
import { Dql, uidList } from './dql.ts';
import { indexOf } from './node-index.ts';
import { isIndex, ordersOf, predicates, uniqueCombinations } from './predicates.ts';
import { type Change, indexChange, quad } from './quads.ts';
import { ledger, type StoredType, schemaText } from './storage.ts';
import { listIn, nodeFields, nodesIn } from './stored-node.ts';

export interface Migration {
  /** Counts from 1. The graph keeps every migration. */
  readonly number: number;
  readonly added: readonly string[];
}

/** Nodes that are indexed again in one transaction. */
const reindexedAtOnce = 200;

/**
 * Adds what Dgraph lacks of the schema, rebuilds indexes whose rules changed, and records a migration. Values are never removed, so an
 * older version can come back; indexes that no type needs are removed. Idempotent: an interrupted migration is repeated at the next start.
 */
export async function migrate(cluster: Cluster, types: readonly StoredType[]): Promise<Migration | null> {
  for (;;) {
    const moment = beginMoment();
    const present = await readLedger(cluster, moment);
    const missing = types.filter((type) => isMissing(type, present.types.get(type.name)));
    if (missing.length === 0) return null;
    const merged = missing.map((type) => merge(type, present.types.get(type.name)));
    await cluster.alter(schemaText(merged));
    for (const type of missing) {
      const before = present.types.get(type.name);
      if (before === undefined || before.index === type.index) continue;
      await reindex(cluster, type.name);
      for (const predicate of leftOf(type, before)) await cluster.drop('ATTR', predicate);
    }
    const migration = { number: present.migrations + 1, added: missing.map(({ name }) => name) };
    try {
      // The ledger was read before the schema change, and Dgraph refuses writes of an older transaction.
      await record(cluster, merged, migration, present.uids);
      return migration;
    } catch (thrown) {
      if (!(thrown instanceof Aborted) && !(thrown instanceof Taken)) throw thrown;
    }
  }
}

/** The types that the ledger records. */
export async function readTypes(
  cluster: Cluster,
  moment: Moment | null = null,
): Promise<ReadonlyMap<string, SchemaLedger>> {
  return (await readLedger(cluster, moment)).types;
}

export interface SchemaLedger {
  readonly predicates: ReadonlyMap<string, string>;
  readonly index: string;
}

async function readLedger(cluster: Cluster, moment: Moment | null) {
  const { q } = await cluster.ask(
    new Dql(),
    [`q(func: has(${ledger.key})) { uid key: ${ledger.key} text: ${ledger.text} }`],
    moment,
  );
  const entries = listIn(q).map(({ uid, key, text }) => ({ uid: String(uid), key: String(key), text: String(text) }));
  const types = new Map(
    entries.flatMap(({ key, text }) =>
      key.startsWith(typeKey('')) ? [[key.slice(typeKey('').length), known(text)]] : [],
    ),
  );
  return {
    types,
    uids: new Map(entries.map(({ key, uid }) => [key, uid])),
    migrations: entries.filter(({ key }) => key.startsWith(migrationKey(''))).length,
  };
}

function isMissing(type: StoredType, before: SchemaLedger | undefined): boolean {
  if (before === undefined || before.index !== type.index) return true;
  return [...type.predicates].some(([predicate, definition]) => before.predicates.get(predicate) !== definition);
}

/** Index predicates that the type no longer has. */
function leftOf(type: StoredType, { predicates }: SchemaLedger): readonly string[] {
  return [...predicates.keys()].filter((predicate) => isIndex(predicate) && !type.predicates.has(predicate));
}

/** Predicates of values that an older or newer version added stay in the type. */
function merge(type: StoredType, before: SchemaLedger | undefined): StoredType {
  for (const [predicate, definition] of type.predicates) {
    const is = before?.predicates.get(predicate);
    if (is === undefined || is === definition) continue;
    throw new SvcError(
      'unsupported',
      `"${predicate}" is "${is}" in the graph database and "${definition}" in this version: storage is added to, never changed.`,
      { hint: 'Use the version of the platform that wrote this graph, or a newer one.' },
    );
  }
  const values = [...(before?.predicates ?? [])].filter(([predicate]) => !isIndex(predicate));
  return { ...type, predicates: new Map([...values, ...type.predicates]) };
}

async function record(
  cluster: Cluster,
  types: readonly StoredType[],
  migration: Migration,
  uids: ReadonlyMap<string, string>,
): Promise<void> {
  const entries = [
    ...types.map((type) => ({
      key: typeKey(type.name),
      text: JSON.stringify({ predicates: [...type.predicates], index: type.index }),
    })),
    { key: migrationKey(String(migration.number)), text: JSON.stringify({ at: Date.now(), added: migration.added }) },
  ];
  const set = entries.flatMap(({ key, text }, index) => {
    const subject = uids.get(key) ?? `_:l${index}`;
    const isNew = !uids.has(key);
    return [
      ...(isNew ? [quad(subject, 'dgraph.type', 'svc.ledger'), quad(subject, ledger.key, key)] : []),
      quad(subject, ledger.text, text),
    ];
  });
  await cluster.commit(beginMoment(), [{ set, remove: [] }]);
}

/** Rebuilds the index of each node, page by page. Nodes whose index is right are not written. */
async function reindex(cluster: Cluster, type: string): Promise<void> {
  for (let after = '0x0'; ; ) {
    const last = await reindexSome(cluster, type, after).catch((thrown: unknown) => {
      if (thrown instanceof Aborted) return after;
      throw thrown;
    });
    if (last === null) return;
    after = last;
  }
}

/** The uid of the last node of the page, or null after the last page. */
async function reindexSome(cluster: Cluster, type: string, after: string): Promise<string | null> {
  const moment = beginMoment();
  const [markList, fenceList] = [predicates.marks(type), predicates.fences(type)];
  const texts = [
    ...ordersOf(type).map((by) => predicates.order(type, by)),
    ...uniqueCombinations(type).map(({ predicate }) => predicate),
  ];
  const { q } = await cluster.ask(
    new Dql(),
    [
      `q(func: type(${type}), first: ${reindexedAtOnce}, after: ${uidList([after])}) {
        ${nodeFields(type)} ${[markList, fenceList, ...texts].join(' ')}
      }`,
    ],
    moment,
  );
  const raws = new Map(listIn(q).map((raw) => [String(raw.uid), raw]));
  const changes = nodesIn(type, q).flatMap((node): Change[] => {
    const raw = raws.get(node.uid) ?? {};
    const stored = texts.filter((predicate) => raw[predicate] !== undefined);
    const was = {
      texts: new Map(stored.map((predicate) => [predicate, String(raw[predicate])])),
      marks: textsIn(raw[markList]),
      fences: textsIn(raw[fenceList]),
    };
    const { set, remove } = indexChange(node.uid, type, { was, is: indexOf(node) });
    if (set.length + remove.length === 0) return [];
    // A change of the node at the same time conflicts with this one by its version.
    return [{ set: [quad(node.uid, predicates.version(type), node.version), ...set], remove }];
  });
  if (raws.size === 0) return null;
  if (changes.length > 0) {
    await cluster.commit(moment, [
      { set: changes.flatMap(({ set }) => set), remove: changes.flatMap(({ remove }) => remove) },
    ]);
  }
  return [...raws.keys()].at(-1) ?? null;
}

function textsIn(answer: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(answer) ? answer.map(String) : []);
}

function known(text: string): SchemaLedger {
  const { predicates, index } = JSON.parse(text) as { predicates: [string, string][]; index: string };
  return { predicates: new Map(predicates), index };
}

function typeKey(name: string): string {
  return `type ${name}`;
}

function migrationKey(number: string): string {
  return `migration ${number}`;
}
