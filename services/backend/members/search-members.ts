import { membersMax } from '../../contracts/workspace-limits.ts';
import type { Graph, Node, Page, Selection } from '../graph/graph.ts';
import { matchesSearch } from '../graph/search-words.ts';

interface SearchedMembers {
  readonly graph: Graph;
  readonly page: Pick<Selection<'member'>, 'limit' | 'search'> & { readonly anchor: Node<'member'>['workspace'] };
  readonly personOf: (member: Node<'member'>) => Promise<Node<'user'> | null>;
}

/**
 * The members whose name or address has the words, in one page. The graph indexes the words of a person, not of a member,
 * so this reads all members of the workspace.
 */
export async function searchMembers({ graph, page, personOf }: SearchedMembers): Promise<Page<'member'>> {
  const { anchor, limit, search = '' } = page;
  const all = await graph.select({ type: 'member', anchor, orderBy: 'createdAt', limit: membersMax });
  const people = await Promise.all(all.nodes.map(personOf));
  const found = all.nodes.filter((_, index) => {
    const person = people[index];
    return person != null && matchesSearch([person.name, person.email], search);
  });
  return { nodes: found.slice(0, limit), next: null };
}
