import { SvcError } from '../../services/contracts/errors.ts';

const pageSize = 100;
/** A workspace holds at most ten thousand of anything but tools. */
const pagesMax = 1000;

export interface PageOf<Item> {
  readonly nodes: readonly Item[];
  readonly pageInfo: { readonly next: string | null };
}

export interface PageVariables {
  readonly first: number;
  readonly after: string | null;
}

/** Reads every node of a paged list. Smaller pages follow after the backend has refused one as too large. */
export async function everyPage<Item>(
  fetchPage: (page: PageVariables) => Promise<PageOf<Item> | undefined>,
  firstPage?: PageOf<Item>,
): Promise<Item[]> {
  const items = [...(firstPage?.nodes ?? [])];
  let after = firstPage?.pageInfo.next ?? null;
  if (firstPage !== undefined && after === null) return items;
  let first = pageSize;
  for (let pages = 0; pages < pagesMax; pages++) {
    try {
      const page = await fetchPage({ first, after });
      if (page === undefined) throw new SvcError('not_found', 'The workspace or MCP server was removed meanwhile.');
      items.push(...page.nodes);
      after = page.pageInfo.next;
      if (after === null) return items;
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'too_large' || first === 1) throw error;
      first = Math.ceil(first / 4);
    }
  }
  throw new SvcError('too_large', `The list is longer than ${pagesMax * pageSize} entries.`);
}
