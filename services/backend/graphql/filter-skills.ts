import { SvcError } from '../../contracts/errors.ts';
import { findId, type RoleId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Graph, Node, Page } from '../graph/graph.ts';
import { fillPage } from './fill-page.ts';
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

/** A page of the skills that match, in the order of their names. It reads whole skills. */
export async function filterSkills(graph: Graph, { workspace, page, matches }: Filtered): Promise<Page<'skill'>> {
  let text = 0;
  return await fillPage<'skill'>(page, {
    read: (slice) => graph.select({ type: 'skill', anchor: workspace, orderBy: 'name', ...page, ...slice }),
    pick: async (skills) => {
      text += skills.reduce((sum, { instructions }) => sum + instructions.length, 0);
      const kept = await Promise.all(
        skills.map(async (skill) => (await Promise.all(matches.map((match) => match(skill)))).every(Boolean)),
      );
      return skills.filter((_, index) => kept[index]);
    },
    slicesMax,
    isTooMuch: () => text >= textMax,
  });
}

/** Refuses a text that is no id of a role, so that a mistake is not an empty list. */
export function parseRoleFilter(text: string): RoleId {
  const role = findId('role', text);
  if (role !== null) return role;
  throw new SvcError('invalid_input', `"role" is "${text.slice(0, 80)}": it must be the id of a role.`);
}
