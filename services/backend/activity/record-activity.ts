import type { Changes, FieldChange, FieldValue } from '../../contracts/activity-changes.ts';
import type { IdKind } from '../../contracts/ids.ts';
import { newId } from '../../contracts/ids.ts';
import type { Transaction } from '../graph/graph.ts';
import type { Access } from '../members/access.ts';

/** One action of a person on an object. */
export interface ActivityEntry {
  readonly action: Action;
  readonly subject: string;
  readonly subjectKind: IdKind;
  readonly subjectName: string;
  /** The new values. Never a secret: of a secret only that it changed. */
  readonly changes: Changes;
}

export type Action = 'create' | 'update' | 'remove' | 'restart' | 'revoke';

/** Writes an entry in the transaction of the action that it records. */
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

/** Operators are not users of the platform: their token has their name. */
async function actorOf(
  transaction: Transaction,
  principal: Access['principal'],
): Promise<{ id: string; name: string }> {
  if (principal.kind === 'operator') return { id: 'operator', name: principal.name };
  const user = await transaction.find('user', principal.user, null);
  return { id: principal.user, name: user?.name ?? principal.user };
}

/** The fields in which `after` differs from `before`. */
export function differences(
  before: Readonly<Record<string, FieldValue>>,
  after: Readonly<Record<string, FieldValue | undefined>>,
): Changes {
  const changes: Record<string, FieldChange> = {};
  for (const [name, to] of Object.entries(after)) {
    const from = before[name] ?? null;
    if (to === undefined || sameValue(from, to)) continue;
    changes[name] = isLong(from) || isLong(to) ? 'changed' : { from, to };
  }
  return changes;
}

const shownLengthMax = 1024;

function isLong(value: FieldValue): boolean {
  return JSON.stringify(value).length > shownLengthMax;
}

function sameValue(a: FieldValue, b: FieldValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
