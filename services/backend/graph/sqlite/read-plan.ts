import type { Following } from '../following.ts';
import { typeNamed, type UniqueKey } from '../node-rules.ts';
import type { SqlValue } from './connection.ts';
import { all, equal, quoted, type Sql, sqlValue } from './sql.ts';
import { edgeTable } from './storage.ts';

/** A read as SQL. Its runner, which may be another thread, does not need the schema. */
export interface RowsPlan {
  /** Run in turn until `limit` rows are found. The last parameter of each, not among its values, is the number of missing rows. */
  readonly steps: readonly Sql[];
  readonly limit: number;
  /** Reads no row that it does not return, so its time follows from the number of rows. */
  readonly straight: boolean;
  /** The first one with few enough candidates replaces `steps`. */
  readonly shortcuts: readonly Shortcut[];
}

/** `probe` counts candidates, up to one more than `candidatesMax`; `steps` begin with them. */
export interface Shortcut {
  readonly probe: Sql;
  readonly candidatesMax: number;
  readonly steps: readonly Sql[];
}

export interface FollowPlan {
  /** From an id and a limit, its last parameters, to the ids at the other ends. */
  readonly ends: Sql;
  /** From an id to its node. */
  readonly node: string;
  readonly ids: readonly string[];
  readonly limitEach: number;
  readonly textMax: number;
}

export function findPlan(type: string, id: string, workspace: string | null): RowsPlan {
  return pointPlan(type, [equal('n.id', id), ...inWorkspace(workspace)]);
}

export function findByPlan(type: string, { fields, values, workspace }: UniqueKey): RowsPlan {
  const conditions = fields.map((field, index) => equal(`n.${quoted(field)}`, sqlValue(values[index] ?? null)));
  return pointPlan(type, [...inWorkspace(workspace), ...conditions]);
}

/** An edge never leaves a workspace, so the node it starts from says where both ends are. */
export function followPlan({ from, edge, target, back, workspace, ids, limitEach, textMax }: Following): FollowPlan {
  const [near, far] = back ? ['target', 'source'] : ['source', 'target'];
  const join = workspace === null ? '' : `join ${quoted(from)} s on s.id = e.source and s.workspace = ?`;
  const found = back ? from : target;
  return {
    ends: {
      sql: `select e.${far} from ${edgeTable} e ${join} where e.name = ? and e.${near} = ? order by e.${far} limit ?`,
      values: [...(workspace === null ? [] : [workspace]), edgeName(from, edge)],
    },
    node: `select ${columnList(found)} from ${quoted(found)} n where n.id = ?`,
    ids,
    limitEach,
    textMax,
  };
}

export function edgeName(from: string, edge: string): string {
  return `${from}.${edge}`;
}

export function columnsOf(type: string): readonly string[] {
  const { owned, fields } = typeNamed(type);
  return ['id', 'version', ...(owned ? ['workspace'] : []), ...Object.keys(fields)];
}

export function columnList(type: string): string {
  return columnsOf(type)
    .map((column) => `n.${quoted(column)}`)
    .join(', ');
}

export function inWorkspace(workspace: SqlValue): readonly Sql[] {
  return workspace === null ? [] : [equal('n.workspace', workspace)];
}

function pointPlan(type: string, conditions: readonly Sql[]): RowsPlan {
  const { sql, values } = all(conditions);
  const step = { sql: `select ${columnList(type)} from ${quoted(type)} n where ${sql} limit ?`, values };
  return { steps: [step], limit: 1, straight: true, shortcuts: [] };
}
