import { membersMax } from '../../contracts/workspace-limits.ts';
import { formatCursor } from '../graph/cursor.ts';
import type { Graph, Node, Page, Selection } from '../graph/graph.ts';
import { matchesSearch } from '../graph/search-words.ts';

interface SearchedMembers {
  readonly graph: Graph;
  readonly page: Pick<Selection<'member'>, 'limit' | 'after' | 'search'> & {
    readonly anchor: Node<'member'>['workspace'];
  };
  readonly personOf: (member: Node<'member'>) => Promise<Node<'user'> | null>;
}

const order = { type: 'member', orderBy: 'createdAt', descending: false } as const;

/**
 * A page of the members whose name or address has the words. The graph indexes the words of a person, not of a member, so
 * this reads all members after the page before.
 */
export async function searchMembers({ graph, page, personOf }: SearchedMembers): Promise<Page<'member'>> {
  const { limit, search = '', ...from } = page;
  const { nodes: members } = await graph.select({ ...order, ...from, limit: membersMax });
  const people = await Promise.all(members.map(personOf));
  const found = members.filter((_, index) => {
    const person = people[index];
    return person != null && matchesSearch([person.name, person.email], search);
  });
  const nodes = found.slice(0, limit);
  const last = nodes.at(-1);
  const isWhole = last === undefined || nodes.length === found.length;
  return { nodes, next: isWhole ? null : formatCursor(order, { value: last.createdAt, id: last.id }) };
}
