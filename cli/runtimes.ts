import { z } from 'zod';
import type { BackendClient } from '../stack/backend-client.ts';
import { everyPage, pageInfo } from '../stack/every-page.ts';
import { named } from './platform.ts';

const runtime = z.object({
  id: z.string(),
  name: z.string(),
  /** The platform's own: it runs what is bound to none. */
  platform: z.boolean(),
  available: z.boolean(),
  lastHeartbeatAt: z.number().nullable(),
  versions: z.array(z.string()),
});
export type Runtime = z.infer<typeof runtime>;

const fields = 'nodes { id name platform available lastHeartbeatAt versions } pageInfo { next }';
const page = z.object({ nodes: z.array(runtime), pageInfo });
const ofWorkspace = z.object({ workspace: z.object({ runtimes: page }) });
const ofPlatform = z.object({ platformRuntimes: page });

/** Those of the workspace, then the platform's own, which any workspace may use. */
export async function fetchRuntimes(backend: BackendClient, workspace: string): Promise<Runtime[]> {
  const own = await everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($id: ID, $first: Int, $after: String) {
        workspace(id: $id) { runtimes(first: $first, after: $after) { ${fields} } }
      }`,
      { id: workspace, first, after },
      ofWorkspace.parse,
    );
    return answer.workspace.runtimes;
  });
  const shared = await everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($first: Int, $after: String) { platformRuntimes(first: $first, after: $after) { ${fields} } }`,
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
