import { createHash } from 'node:crypto';
import { type FieldKind, type NodeType, schema } from '../schema.ts';
import { searchWordsVersion } from '../search-words.ts';
import { nodeIndexVersion } from './node-index.ts';
import { ordersOf, predicates, uniqueCombinations } from './predicates.ts';

/** A type in Dgraph's schema. Values are never removed from it, so an older version of the platform can still write. */
export interface StoredType {
  readonly name: string;
  /** From a predicate to its definition in Dgraph's schema. */
  readonly predicates: ReadonlyMap<string, string>;
  /** Digest of the rules of the index. A different one makes every node be indexed again. */
  readonly index: string;
}

const unique = ' @upsert @unique';

/** Predicates of the ledger, which records the types and migrations of this platform. */
export const ledger = { key: 'svc.ledger.key', text: 'svc.ledger.text' } as const;

export function storedTypes(types: Readonly<Record<string, NodeType>> = schema): readonly StoredType[] {
  return Object.entries(types).map(([name, type]) => ({
    name,
    predicates: new Map([...identity(name, type), ...fields(name, type), ...indexes(name, type)]),
    index: createHash('sha256')
      .update(
        JSON.stringify([nodeIndexVersion, searchWordsVersion, type.owned, type.index, type.search, uniqueIn(type)]),
      )
      .digest('base64url'),
  }));
}

/** The types without checks for unique values and conflicts: an import has one writer, and its source was checked. */
export function withoutLooks(types: readonly StoredType[]): readonly StoredType[] {
  const unguarded = (definition: string) => `${definition.replace(unique, '')} @noconflict`;
  return types.map((type) => ({
    ...type,
    predicates: new Map([...type.predicates].map(([name, definition]) => [name, unguarded(definition)])),
  }));
}

/** The schema as text of an alter operation. */
export function schemaText(types: readonly StoredType[]): string {
  return [
    `${ledger.key}: string @index(exact) @upsert @unique .`,
    `${ledger.text}: string .`,
    `type svc.ledger {\n${ledger.key}\n${ledger.text}\n}`,
    ...types.flatMap((type) => [
      ...[...type.predicates].map(([predicate, definition]) => `${predicate}: ${definition} .`),
      `type ${type.name} {\n${[...type.predicates.keys()].join('\n')}\n}`,
    ]),
  ].join('\n');
}

function identity(name: string, { owned }: NodeType): [string, string][] {
  const workspace: [string, string][] = owned ? [[predicates.workspace(name), 'string']] : [];
  return [[predicates.id(name), `string @index(exact)${unique}`], [predicates.version(name), 'int'], ...workspace];
}

function fields(name: string, type: NodeType): [string, string][] {
  return [
    ...Object.entries(type.fields).map(([field, kind]): [string, string] => [
      predicates.of(name, field),
      scalarOf[kind],
    ]),
    ...Object.keys(type.edges).map((edge): [string, string] => [predicates.of(name, edge), '[uid] @reverse']),
  ];
}

function indexes(name: string, type: NodeType): [string, string][] {
  return [
    ...ordersOf(name, type).map((by): [string, string] => [predicates.order(name, by), 'string @index(exact)']),
    ...uniqueCombinations(name, type).map(({ predicate }): [string, string] => [
      predicate,
      `string @index(exact)${unique}`,
    ]),
    [predicates.marks(name), '[string] @index(exact)'],
    [predicates.fences(name), '[string] @index(exact)'],
  ];
}

const scalarOf: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  'text?': 'string',
  integer: 'int',
  'integer?': 'int',
  time: 'int',
  'time?': 'int',
  boolean: 'bool',
};

function uniqueIn({ unique, uniqueEverywhere = [] }: NodeType): unknown {
  return [unique, uniqueEverywhere];
}
