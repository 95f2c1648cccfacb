import { type ChangedObject, describeChanges, mergeChanges, parseChanges } from '../../contracts/activity-changes.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Node } from '../graph/graph.ts';
import type { Change } from './change.ts';

/** The version of an object that a change is based on; absent: any. */
export interface BasedOn {
  readonly id: string;
  readonly ifVersion?: number | null | undefined;
}

type Versioned = Pick<Node<'skill'>, 'version'> & { readonly id: string; readonly name: string };

/** Throws `conflict` if the object has changed since the given version. The message says what, and by whom. */
export async function requireVersion(
  change: Change,
  kind: ChangedObject,
  object: Versioned,
  ifVersion: number | null | undefined,
): Promise<void> {
  if (ifVersion == null || ifVersion === object.version) return;
  const entries = await entriesOf(change, object.id, object.version - ifVersion);
  const told = describeChanges(mergeChanges(entries.map(({ changes }) => parseChanges(changes))));
  const what = told === '' ? '.' : `: ${told}.`;
  throw new SvcError('conflict', `The ${words[kind]} "${object.name}" was changed meanwhile${byOf(entries)}${what}`, {
    hint: repeat(looks[kind](object.name)),
  });
}

/**
 * What `find` finds. If it finds nothing because somebody removed the object since the version that the change is based
 * on, it throws `conflict`.
 */
export async function findSince<Found>(
  change: Change,
  kind: ChangedObject,
  { id, ifVersion }: BasedOn,
  find: () => Promise<Found>,
): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (ifVersion == null || !(error instanceof SvcError) || error.code !== 'not_found') throw error;
    throw (await removalOf(change, kind, id)) ?? error;
  }
}

/** Null if nobody removed it. */
export async function removalOf(change: Change, kind: ChangedObject, id: string): Promise<SvcError | null> {
  const [last] = await entriesOf(change, id, 1);
  if (last?.action !== 'remove') return null;
  return new SvcError('conflict', `The ${words[kind]} "${last.subjectName}" was removed meanwhile${byOf([last])}.`, {
    hint: `List those that exist: ${lists[kind]}`,
  });
}

export interface Dependants {
  readonly kind: ChangedObject;
  readonly objects: readonly { readonly id: string; readonly name: string }[];
  /** Ids of those that a person has seen; absent: any may depend on it. */
  readonly seen: readonly string[] | null | undefined;
}

/** A person agreed to the removal of an object with a list of those that lose it. Throws `conflict` if there are more. */
export function requireSeen(
  removed: { readonly kind: ChangedObject; readonly name: string },
  { kind, objects, seen }: Dependants,
): void {
  if (seen == null) return;
  const unseen = new Map(objects.map(({ id, name }) => [id, `"${name}"`]));
  for (const id of seen) unseen.delete(id);
  const more = [...unseen.values()];
  if (more.length === 0) return;
  const shown = more.slice(0, dependantsShownMax).join(', ');
  const rest = more.length > dependantsShownMax ? ` and ${more.length - dependantsShownMax} more` : '';
  const subject = `${words[kind]}${more.length === 1 ? '' : 's'} ${shown}${rest}`;
  const verb = more.length === 1 ? 'depends' : 'depend';
  throw new SvcError(
    'conflict',
    `Meanwhile the ${subject} ${verb} on the ${words[removed.kind]} "${removed.name}" too. Nothing was removed.`,
    { hint: repeat(looks[removed.kind](removed.name)) },
  );
}

const dependantsShownMax = 5;

export function repeat(command: string): string {
  return `Show the present state: ${command}. Then try again.`;
}

/** The latest entries of an object, the latest first. Older ones than these may be forgotten. */
async function entriesOf(
  { transaction, workspace }: Change,
  id: string,
  count: number,
): Promise<readonly Node<'activity'>[]> {
  const { nodes } = await transaction.select({
    ...{ type: 'activity', anchor: workspace, orderBy: 'at', descending: true, limit: entriesReadMax },
  });
  const own = nodes.filter(({ subject, action, changes }) =>
    subject === id ? action !== 'restart' : action === 'create' && replaces(changes, id),
  );
  return own.slice(0, Math.max(count, 0));
}

/** A conflict is about the last seconds. The entries are read while other changes wait. */
const entriesReadMax = 100;

/** The creation of a key that replaces another is a change of the other, too. */
function replaces(changes: string, id: string): boolean {
  const { replaces } = parseChanges(changes);
  return typeof replaces === 'object' && replaces.to === id;
}

function byOf(entries: readonly Node<'activity'>[]): string {
  const names = [...new Set(entries.map(({ actorName }) => actorName))];
  return names.length === 0 ? '' : ` by ${names.join(' and ')}`;
}

/** The kind of an object in a sentence. */
export function wordsOf(kind: string): string {
  return Object.entries(words).find(([known]) => known === kind)?.[1] ?? kind;
}

const words: Readonly<Record<ChangedObject, string>> = {
  role: 'role',
  skill: 'skill',
  mcpServer: 'MCP server',
  key: 'key',
  member: 'member',
  runtime: 'runtime',
};

/** The names of these kinds hold no character that a shell reads inside quotes. An e-mail address may. */
const looks: Readonly<Record<ChangedObject, (name: string) => string>> = {
  role: (name) => `svc role show "${name}"`,
  skill: (name) => `svc skill show "${name}"`,
  mcpServer: (name) => `svc server show "${name}"`,
  key: (name) => `svc keys show "${name}"`,
  member: () => 'svc user list',
  runtime: () => 'svc runtime list',
};

const lists: Readonly<Record<ChangedObject, string>> = {
  role: 'svc role list',
  skill: 'svc skill list',
  mcpServer: 'svc server list',
  key: 'svc keys list',
  member: 'svc user list',
  runtime: 'svc runtime list',
};
