import { resolve, sep } from 'node:path';
import { readWorkingFolders, type WorkingFolder } from '../../../services/backend/servers/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import { noKinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import type { Plan } from '../../plan/plan.ts';
import { readSecret } from '../../secrets/secrets.ts';
import { hasOwnGraph } from '../../settings/definition.ts';
import { placesOf } from '../replace/fill-places.ts';

export interface Looking {
  readonly from: Plan;
  readonly to: Plan;
  /** Whether the old side runs. */
  readonly isUp: boolean;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/**
 * Folders of this machine that MCP servers are started in, and that the container of the runtime would not see. Null where that is not known:
 * nothing is started to find out, and nothing of a move depends on it.
 */
export async function findUnseenFolders(looking: Looking): Promise<readonly WorkingFolder[] | null> {
  const { from, to, isUp, signal } = looking;
  // Only a private site hides files of this machine.
  if (from.site.isPrivate || !to.site.isPrivate) return [];
  if (!isUp && hasOwnGraph(from.definition)) return null;
  try {
    const folders = await readFolders(looking);
    return folders.filter(({ folder }) => !isSeen(folder, to.definition.runtime.allowedPaths));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

async function readFolders({ from, env, signal }: Looking): Promise<readonly WorkingFolder[]> {
  const key = new Secret(readSecret(from.secrets.encryptionKey));
  const opening = { kinds: { ...noKinds, graph: true }, to: 'read', isRunning: true } as const;
  const places = await placesOf(from, { env, signal, onNotice: () => undefined });
  await using place = await places.open(opening);
  return await withStore({ plan: from, place, ...opening, signal }, async ({ graph }) =>
    graph === null ? [] : await readWorkingFolders(graph, key),
  );
}

function isSeen(folder: string, allowed: readonly string[]): boolean {
  return allowed.some((path) => withEnd(resolve(folder)).startsWith(withEnd(resolve(path))));
}

function withEnd(path: string): string {
  return path.endsWith(sep) ? path : `${path}${sep}`;
}
