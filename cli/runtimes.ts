import { z } from 'zod';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage, pageInfo } from '../stack/client/every-page.ts';
import { readPages } from '../stack/client/read-pages.ts';
import { named } from './platform.ts';

const runtime = z.object({
  id: z.string(),
  name: z.string(),
  /** The platform's own: it runs what is bound to none. */
  platform: z.boolean(),
  available: z.boolean(),
  lastHeartbeatAt: z.number().nullable(),
  versions: z.array(z.string()),
  sandboxes: z.array(z.string()),
});
export type Runtime = z.infer<typeof runtime>;

const fields = 'id name platform available lastHeartbeatAt versions sandboxes';
const ofPlatform = z.object({ platformRuntimes: z.object({ nodes: z.array(runtime), pageInfo }) });

/** Those of the workspace, then the platform's own, which any workspace may use. */
export async function fetchRuntimes(backend: BackendClient, workspaceId: string): Promise<Runtime[]> {
  const own = await readPages({ backend, workspaceId, list: 'runtimes', fields, item: runtime });
  const shared = await everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($first: Int, $after: String) {
        platformRuntimes(first: $first, after: $after) { nodes { ${fields} } pageInfo { next } }
      }`,
      { first, after },
      ofPlatform.parse,
    );
    return answer.platformRuntimes;
  });
  return [...own, ...shared];
}

export function runtimeNamed(runtimes: readonly Runtime[], given: string): Runtime {
  return named('runtime', runtimes, given);
}
