import type { IdKind } from '../../contracts/ids.ts';
import { newId } from '../../contracts/ids.ts';
import type { Transaction } from '../graph/graph.ts';
import type { Access } from '../members/access.ts';

/** What somebody did to something. */
export interface ActivityEntry {
  readonly action: Action;
  readonly subject: string;
  readonly subjectKind: IdKind;
  readonly subjectName: string;
  /** What is different now. Never a secret: of those only that they changed. */
  readonly changes: Changes;
}

export type Action = 'create' | 'update' | 'remove' | 'restart' | 'revoke';
export type Changes = Readonly<Record<string, Change>>;
/** A text too long or too secret to repeat is only `changed`. */
type Change = { readonly from?: Value; readonly to?: Value } | 'changed';
type Value = string | number | boolean | null | readonly string[];

/** Writes an entry into the very transaction that does what it tells. */
export async function recordActivity(
  transaction: Transaction,
  access: Pick<Access, 'workspace' | 'principal'>,
  entry: ActivityEntry,
): Promise<void> {
  const at = Date.now();
  const actor = await actorOf(transaction, access.principal);
  await transaction.create('activity', {
    id: newId('activity', at),
    workspace: access.workspace.id,
    at,
    actor: actor.id,
    actorName: actor.name,
    action: entry.action,
    subject: entry.subject,
    subjectKind: entry.subjectKind,
    subjectName: entry.subjectName,
    changes: JSON.stringify(entry.changes),
  });
}

/** Operators are no users of the platform: they are known by the name in their token. */
async function actorOf(
  transaction: Transaction,
  principal: Access['principal'],
): Promise<{ id: string; name: string }> {
  if (principal.kind === 'operator') return { id: 'operator', name: principal.name };
  const user = await transaction.find('user', principal.user, null);
  return { id: principal.user, name: user?.name ?? principal.user };
}

/** The fields of `after` that `before` has otherwise. */
export function differences(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value | undefined>>,
): Changes {
  const changes: Record<string, Change> = {};
  for (const [name, to] of Object.entries(after)) {
    const from = before[name] ?? null;
    if (to === undefined || sameValue(from, to)) continue;
    changes[name] = isLong(from) || isLong(to) ? 'changed' : { from, to };
  }
  return changes;
}

const shownLengthMax = 1024;

function isLong(value: Value): boolean {
  return JSON.stringify(value).length > shownLengthMax;
}

function sameValue(a: Value, b: Value): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
