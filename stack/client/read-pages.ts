import { z } from 'zod';
import type { BackendClient } from './backend-client.ts';
import { everyPage, type PageOf, pageInfo } from './every-page.ts';

export interface Pages<Item extends z.ZodType> {
  readonly backend: BackendClient;
  readonly workspaceId: string;
  /** Field of a workspace, such as `skills`. */
  readonly list: string;
  readonly fields: string;
  readonly item: Item;
  /** Where another question brought it already. */
  readonly firstPage?: PageOf<z.output<Item>>;
  readonly signal?: AbortSignal | undefined;
}

/** Every node of a list of a workspace. */
export function readPages<Item extends z.ZodType>(pages: Pages<Item>): Promise<z.output<Item>[]> {
  const { backend, workspaceId, list, fields, item, firstPage, signal } = pages;
  const document = `query ($id: ID, $first: Int, $after: String) {
    workspace(id: $id) { page: ${list}(first: $first, after: $after) { nodes { ${fields} } pageInfo { next } } }
  }`;
  const answer = z.object({ workspace: z.object({ page: z.object({ nodes: z.array(item), pageInfo }) }) });
  return everyPage(async (first, after) => {
    const { workspace } = await backend.query(document, { id: workspaceId, first, after }, answer.parse, { signal });
    return workspace.page;
  }, firstPage);
}
