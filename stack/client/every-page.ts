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

type FetchPage<Item> = (page: PageVariables) => Promise<PageOf<Item> | undefined>;

/** Reads every node of a paged list. */
export async function everyPage<Item>(fetchPage: FetchPage<Item>, firstPage?: PageOf<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const nodes of pagesOf(fetchPage, firstPage)) items.push(...nodes);
  return items;
}

/** The pages of a list, one after the other. Smaller pages follow after the backend has refused one as too large. */
export async function* pagesOf<Item>(
  fetchPage: FetchPage<Item>,
  firstPage?: PageOf<Item>,
): AsyncGenerator<readonly Item[], void, undefined> {
  if (firstPage !== undefined) yield firstPage.nodes;
  let after = firstPage?.pageInfo.next ?? null;
  if (firstPage !== undefined && after === null) return;
  let first = pageSize;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await fetchPage({ first, after }).catch((error: unknown) => {
      if (!(error instanceof SvcError) || error.code !== 'too_large' || first === 1) throw error;
      return null;
    });
    if (page === null) {
      first = Math.ceil(first / 4);
      continue;
    }
    if (page === undefined) throw new SvcError('not_found', 'The workspace or MCP server was removed meanwhile.');
    yield page.nodes;
    after = page.pageInfo.next;
    if (after === null) return;
  }
  throw new SvcError('too_large', `The list is longer than ${pagesMax * pageSize} entries.`);
}
