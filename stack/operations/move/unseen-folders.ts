import { resolve, sep } from 'node:path';
import { readWorkingFolders, type WorkingFolder } from '../../../services/backend/servers/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import type { Plan } from '../../plan/plan.ts';
import { readSecret } from '../../secrets/secrets.ts';
import type { Definition } from '../../settings/definition.ts';
import { hasOwnGraph } from '../../settings/has-own-graph.ts';
import { withSide } from './side-content.ts';

export interface Looking {
  readonly from: Plan;
  readonly to: Definition;
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
  if (from.definition.engine === to.engine || to.engine === 'process') return [];
  if (!isUp && hasOwnGraph(from.definition)) return null;
  try {
    const folders = await readFolders(looking);
    return folders.filter(({ folder }) => !isSeen(folder, to.runtime.allowedPaths));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

async function readFolders({ from, env, signal }: Looking): Promise<readonly WorkingFolder[]> {
  const key = new Secret(readSecret(from.secrets.encryptionKey));
  const wanted = { bus: false, graph: true, blobs: false };
  const asItRuns = { isRunning: true, daemon: null, born: () => undefined };
  const place = { plan: from, dir: from.installation.dataDir, wanted, to: 'read', ...asItRuns, env, signal } as const;
  return await withSide(place, async ({ graph }) => (graph === null ? [] : await readWorkingFolders(graph, key)));
}

function isSeen(folder: string, allowed: readonly string[]): boolean {
  return allowed.some((path) => withEnd(resolve(folder)).startsWith(withEnd(resolve(path))));
}

function withEnd(path: string): string {
  return path.endsWith(sep) ? path : `${path}${sep}`;
}
