import { SvcError } from '../../services/contracts/errors.ts';

/** The backend's largest page. */
const pageSize = 100;
/** A workspace holds at most ten thousand of anything but tools. */
const pagesMax = 1000;

export interface PageOf<Item> {
  readonly nodes: readonly Item[];
  readonly pageInfo: { readonly next: string | null };
}

/** The variables that every paged operation takes. */
export interface PageVariables {
  readonly first: number;
  readonly after: string | null;
}

/**
 * Reads every node of a paged list. `fetchPage` gives undefined where the owner of the list was removed meanwhile. The caller may have the
 * first page already. After the backend has refused a page as too large, smaller pages follow.
 */
export async function everyPage<Item>(
  fetchPage: (page: PageVariables) => Promise<PageOf<Item> | undefined>,
  firstPage?: PageOf<Item>,
): Promise<Item[]> {
  let size = pageSize;
  const fetchSmaller = async (after: string | null): Promise<PageOf<Item>> => {
    for (;;) {
      try {
        const page = await fetchPage({ first: size, after });
        if (page === undefined) throw new SvcError('not_found', 'The workspace or MCP server was removed meanwhile.');
        return page;
      } catch (error) {
        if (!(error instanceof SvcError) || error.code !== 'too_large' || size === 1) throw error;
        size = Math.ceil(size / 4);
      }
    }
  };
  let page = firstPage ?? (await fetchSmaller(null));
  const items = [...page.nodes];
  for (let pages = 1; page.pageInfo.next !== null; pages++) {
    if (pages === pagesMax) throw new SvcError('too_large', `The list is longer than ${pageSize * pagesMax} entries.`);
    page = await fetchSmaller(page.pageInfo.next);
    items.push(...page.nodes);
  }
  return items;
}
