import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { platformRuntimesQuery, type RuntimeFragment, runtimesQuery } from '../../stack/client/generated/operations.ts';
import { named } from './platform.ts';

export type Runtime = RuntimeFragment;

/** The runtimes of the workspace, then the platform's own, which any workspace may use. */
export async function fetchRuntimes(backend: BackendClient, workspace: string): Promise<Runtime[]> {
  const own = await everyPage(
    async (page) => (await backend.send(runtimesQuery, { workspace, ...page })).workspace?.runtimes,
  );
  const shared = await everyPage(async (page) => (await backend.send(platformRuntimesQuery, page)).platformRuntimes);
  return [...own, ...shared];
}

export function runtimeNamed(runtimes: readonly Runtime[], given: string): Runtime {
  return named('runtime', runtimes, given);
}
