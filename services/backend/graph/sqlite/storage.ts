import { type FieldKind, type NodeType, schema } from '../schema.ts';
import { searchWordsVersion } from '../search-words.ts';
import { quoted } from './sql.ts';

/**
 * The storage that the schema needs, in the order in which it can be added: tables, columns, indexes, words.
 * Everything has a default and values are never removed, so an older version of the platform can still write.
 */
export interface StorageItem {
  readonly name: string;
  /** Changes with the item. An existing item of this name with another definition cannot be changed. */
  readonly definition: string;
  readonly sql: string;
  /** The type whose words are rebuilt when this item is added or changed. */
  readonly reindex?: Reindex;
}

export interface Reindex {
  readonly type: string;
  readonly owned: boolean;
  readonly fields: readonly string[];
}

export const edgeTable = 'edge';

export function wordTable(type: string): string {
  return `${type}_word`;
}

export function storageItems(types: Readonly<Record<string, NodeType>> = schema): readonly StorageItem[] {
  return [...edgeItems(), ...Object.entries(types).flatMap(([name, type]) => typeItems(name, type))];
}

function edgeItems(): StorageItem[] {
  return [
    {
      name: `table ${edgeTable}`,
      definition: 'name, source, target',
      sql: `create table edge (name text not null, source text not null, target text not null,
        primary key (name, source, target)) strict, without rowid`,
    },
    indexItem('edge_back', edgeTable, ['name', 'target', 'source']),
  ];
}

function typeItems(name: string, type: NodeType): StorageItem[] {
  const workspace = type.owned ? ['workspace'] : [];
  return [
    {
      name: `table ${name}`,
      definition: type.owned ? 'owned' : 'not owned',
      sql: `create table ${quoted(name)} (id text primary key not null, version integer not null default 1${
        type.owned ? ', workspace text not null' : ''
      }) strict`,
    },
    ...Object.entries(type.fields).map(([field, kind]) => columnItem(name, field, kind)),
    ...type.unique.map((fields) => uniqueItem(name, type, [...workspace, ...fields])),
    ...(type.uniqueEverywhere ?? []).map((fields) => uniqueItem(name, type, fields)),
    ...(type.owned ? [indexItem(`${name}_by_workspace`, name, ['workspace', 'id'])] : []),
    ...type.index.flatMap((field) => orderItems(name, type, field)),
    ...(type.search.length > 0 ? wordItems({ type: name, owned: type.owned, fields: type.search }) : []),
  ];
}

/** Indexes within a workspace and over all of them. A unique index is in order already, so its field needs no other. */
function orderItems(table: string, { owned, unique, fields }: NodeType, field: string): StorageItem[] {
  const isUnique = unique.some((names) => names.length === 1 && names[0] === field) && !fields[field]?.endsWith('?');
  const inWorkspace = indexItem(`${table}_by_workspace_${field}`, table, ['workspace', field, 'id']);
  const everywhere = indexItem(`${table}_by_${field}`, table, [field, 'id']);
  if (owned) return isUnique ? [everywhere] : [inWorkspace, everywhere];
  return isUnique ? [] : [everywhere];
}

function columnItem(table: string, field: string, kind: FieldKind): StorageItem {
  return {
    name: `column ${table}.${field}`,
    definition: columnTypes[kind],
    sql: `alter table ${quoted(table)} add column ${quoted(field)} ${columnTypes[kind]}`,
  };
}

const columnTypes: Readonly<Record<FieldKind, string>> = {
  text: "text not null default ''",
  integer: 'integer not null default 0',
  time: 'integer not null default 0',
  boolean: 'integer not null default 0',
  'text?': 'text',
  'integer?': 'integer',
  'time?': 'integer',
};

/** Rows without a value are left out: null is not unique, and SQLite would use the index to find nulls. */
function uniqueItem(table: string, { fields }: NodeType, columns: readonly string[]): StorageItem {
  const name = `${table}_unique_${columns.join('_')}`;
  const nullable = columns.filter((column) => fields[column]?.endsWith('?'));
  const where = nullable.map((column) => `${quoted(column)} is not null`).join(' and ');
  return {
    name: `index ${name}`,
    definition: ['unique', columns.join(', '), ...nullable.map((column) => `but null ${column}`)].join(' '),
    sql: `create unique index ${quoted(name)} on ${quoted(table)} (${columns.map(quoted).join(', ')})${
      where === '' ? '' : ` where ${where}`
    }`,
  };
}

function indexItem(name: string, table: string, columns: readonly string[]): StorageItem {
  return {
    name: `index ${name}`,
    definition: columns.join(', '),
    sql: `create index ${quoted(name)} on ${quoted(table)} (${columns.map(quoted).join(', ')})`,
  };
}

/** Indexed in both directions: from the beginning of a word to nodes, and from a node to its words. Nodes without a workspace have ''. */
function wordItems(reindex: Reindex): StorageItem[] {
  const { type, fields } = reindex;
  const table = wordTable(type);
  return [
    {
      name: `table ${table}`,
      definition: 'workspace, word, id',
      sql: `create table ${quoted(table)} (workspace text not null, word text not null, id text not null,
        primary key (workspace, word, id)) strict, without rowid`,
    },
    indexItem(`${table}_of`, table, ['id', 'word']),
    { name: `words ${type}`, definition: `${searchWordsVersion}: ${fields.join(', ')}`, sql: '', reindex },
  ];
}
