import type { Node } from '../graph.ts';
import { typeNamed } from '../node-rules.ts';
import type { TypeName } from '../schema.ts';
import type { Row } from './connection.ts';
import { columnsOf, type FollowPlan } from './read-plan.ts';
import type { Followed } from './run-plan.ts';

/** Rows as nodes of their type. Columns and types follow the schema. */
export function nodesOf<Type extends TypeName>(type: string, rows: readonly Row[]): Node<Type>[] {
  const { fields } = typeNamed(type);
  const columns = columnsOf(type).map((name) => ({ name, isBoolean: fields[name] === 'boolean' }));
  return rows.map((row) => {
    const node: Record<string, unknown> = {};
    columns.forEach(({ name, isBoolean }, index) => {
      node[name] = isBoolean ? row[index] === 1 : row[index];
    });
    return node as Node<Type>;
  });
}

export function nodeOf<Type extends TypeName>(type: Type, row: Row | undefined): Node<Type> | null {
  return row === undefined ? null : (nodesOf<Type>(type, [row])[0] ?? null);
}

/** Several edges to one node lead to one object. */
export function endsOf<Type extends TypeName>(
  type: string,
  plan: FollowPlan,
  { rows, ends }: Followed,
): ReadonlyMap<string, readonly Node<Type>[]> {
  const nodes = nodesOf<Type>(type, rows);
  return new Map(
    plan.ids.map((id, index) => [id, (ends[index] ?? []).flatMap((place) => nodes[place] ?? [])] as const),
  );
}
