import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { copyFiles } from '../../engines/docker/copy-volume.ts';
import { ownerInside, runsAs } from '../../engines/docker/user.ts';
import { volumeOf } from '../../engines/docker/volume-of.ts';
import type { Plan } from '../../plan/plan.ts';
import { stagingDirOf } from './move-state.ts';
import type { MovePlan } from './plan-move.ts';
import { volumeNamed } from './side-place.ts';

/** Names of the folders in data/, and of the parts with volumes, that hold files of nobody's but that part: homes of MCP servers, certificates. */
export function ownFoldersOf({ parts, definition }: Plan): readonly string[] {
  return parts
    .filter(({ service }) => isOwn(service))
    .flatMap((part) => (volumeOf(part, definition) === null ? [] : [part.name]));
}

function isOwn(service: Plan['parts'][number]['service']): boolean {
  return service === 'runtime' || service === 'caddy';
}

/** Copies them as they are where the other side is of another engine. */
export async function carryFolders(
  { installation, from, to, daemon, volumes }: MovePlan,
  signal: AbortSignal,
): Promise<void> {
  if (daemon === null || from.definition.engine === to.definition.engine) return;
  const { isRootless } = daemon;
  const isIntoVolumes = to.definition.engine === 'docker';
  const inside = { plan: isIntoVolumes ? to : from, daemon, signal };
  for (const name of ownFoldersOf(to)) {
    const volume = volumeNamed(name, inside.plan);
    const folder = join(isIntoVolumes ? installation.dataDir : stagingDirOf(installation), name);
    if (isIntoVolumes) {
      const { user } = runsAs(installation, isRootless);
      if (existsSync(folder)) await copyFiles({ from: folder, to: volume, user }, inside);
    } else if (volumes.has(volume)) {
      mkdirSync(folder, { mode: 0o700 });
      await copyFiles({ from: volume, to: folder, user: ownerInside(installation, isRootless) }, inside);
    }
  }
}
