import type { Changes } from '../../contracts/activity-changes.ts';
import { actionInWords } from '../../contracts/activity-words.ts';
import type { IdKind, WorkspaceId } from '../../contracts/ids.ts';
import type { Graph, Node, Page } from '../graph/graph.ts';
import { type Access, allows } from '../members/access.ts';
import { fillPage } from './fill-page.ts';
import type { pageOf } from './paging.ts';

const ownedKinds: ReadonlySet<string> = new Set<IdKind>(['key', 'workspace']);
const namedByAddress: ReadonlySet<string> = new Set<IdKind>(['invitation', 'member']);

/** The name of the object, for a caller with this role: owner and admin alone see addresses. */
export function subjectFor(role: Access['role'], { subjectKind, subjectName }: Node<'activity'>): string {
  return namedByAddress.has(subjectKind) && !allows(role, 'administer') ? 'a person' : subjectName;
}

/** What changed, for a caller with this role. The owner of a key or of a workspace is named by an address. */
export function changesFor(role: Access['role'], { subjectKind, changes }: Node<'activity'>): string {
  if (!ownedKinds.has(subjectKind) || allows(role, 'administer')) return changes;
  const { owner, ...others }: Changes = JSON.parse(changes);
  return owner === undefined ? changes : JSON.stringify({ owner: 'changed', ...others });
}

interface Filtered {
  readonly workspace: WorkspaceId;
  readonly role: Access['role'];
  readonly page: ReturnType<typeof pageOf>;
}

/** Slices of one page. Where few entries match, a page is short and the next one goes on. */
const slicesMax = 10;

/**
 * A page of the changes, the latest first. With words, it has those whose text, as the caller sees it, holds each of
 * them: nobody finds out a hidden address.
 */
export async function filterActivity(
  graph: Pick<Graph, 'select'>,
  { workspace, role, page: { search, ...page } }: Filtered,
): Promise<Page<'activity'>> {
  const selection = { type: 'activity', anchor: workspace, orderBy: 'at', descending: true, ...page } as const;
  if (search === undefined) return await graph.select(selection);
  const words = search.toLowerCase().split(/\s+/);
  return await fillPage<'activity'>(page, {
    read: (slice) => graph.select({ ...selection, ...slice }),
    pick: (entries) => entries.filter((entry) => hasWords(words, textFor(role, entry))),
    slicesMax,
  });
}

function textFor(role: Access['role'], entry: Node<'activity'>): string {
  return `${entry.actorName} ${actionInWords({ ...entry, subject: subjectFor(role, entry) })}`.toLowerCase();
}

function hasWords(words: readonly string[], text: string): boolean {
  return words.every((word) => text.includes(word));
}
