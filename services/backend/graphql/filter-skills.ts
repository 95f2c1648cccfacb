import { SvcError } from '../../contracts/errors.ts';
import { findId, type RoleId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Graph, Node, Page } from '../graph/graph.ts';
import type { pageOf } from './paging.ts';

interface Filtered {
  readonly workspace: WorkspaceId;
  readonly page: ReturnType<typeof pageOf>;
  /** Says of each skill of a slice whether it belongs to the list. */
  readonly matches: readonly ((skill: Node<'skill'>) => Promise<boolean>)[];
}

/** Slices of one page. Where few skills match, a page is short and the next one goes on. */
const slicesMax = 10;
/** Characters of instructions read for one page, far below the memory of an operation. */
const textMax = 8 * 1024 * 1024;

/**
 * A page of the skills that match, in the order of their names. It reads whole skills in slices and stops at a bound, so
 * a page may hold fewer skills than asked for, or none, before the last one.
 */
export async function filterSkills(graph: Graph, { workspace, page, matches }: Filtered): Promise<Page<'skill'>> {
  const nodes: Node<'skill'>[] = [];
  let slice: Page<'skill'> = { nodes: [], next: page.after ?? null };
  let text = 0;
  for (let slices = 0; slices < slicesMax && text < textMax; slices++) {
    const limit = page.limit - nodes.length;
    // A small slice costs as many round trips as a full one.
    if (limit * 2 < page.limit || (slices > 0 && slice.next === null)) break;
    const after = slice.next === null ? {} : { after: slice.next };
    slice = await graph.select({ type: 'skill', anchor: workspace, orderBy: 'name', ...page, ...after, limit });
    text += slice.nodes.reduce((sum, { instructions }) => sum + instructions.length, 0);
    const kept = await Promise.all(
      slice.nodes.map(async (skill) => (await Promise.all(matches.map((match) => match(skill)))).every(Boolean)),
    );
    nodes.push(...slice.nodes.filter((_, index) => kept[index]));
  }
  return { nodes, next: slice.next };
}

/** Refuses a text that is no id of a role, so that a mistake is not an empty list. */
export function parseRoleFilter(text: string): RoleId {
  const role = findId('role', text);
  if (role !== null) return role;
  throw new SvcError('invalid_input', `"role" is "${text.slice(0, 80)}": it must be the id of a role.`);
}
