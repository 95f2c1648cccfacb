import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';

/** As many as the backend gives at once. */
const pageSize = 100;
/** A workspace holds at most ten thousand of anything but tools. */
const pagesMax = 1000;

export const pageInfo = z.object({ next: z.string().nullable() });

export interface PageOf<Item> {
  readonly nodes: readonly Item[];
  readonly pageInfo: z.infer<typeof pageInfo>;
}

/**
 * Every node of a paged list. `fetchPage` asks for one page after a cursor; the first one may be there already. Where the backend says that a
 * page is too large, smaller ones are asked for from there on.
 */
export async function everyPage<Item>(
  fetchPage: (first: number, after: string | null) => Promise<PageOf<Item>>,
  firstPage?: PageOf<Item>,
): Promise<Item[]> {
  let size = pageSize;
  const fetchSmaller = async (after: string | null): Promise<PageOf<Item>> => {
    for (;;) {
      try {
        return await fetchPage(size, after);
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
