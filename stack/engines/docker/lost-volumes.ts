import { describeLoss, judgeLosses, type Loss, type Losses } from '../../place/losses.ts';
import { kindOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { containerNameOf, volumesOf } from './names.ts';

type VolumeRecord = Pick<ContainersRecord, 'volumes' | 'services'>;

/** The recorded volumes that a plan needs and that are gone. */
export function findLostVolumes(plan: Plan, record: VolumeRecord | null, there: ReadonlySet<string>): Losses {
  const { definition } = plan;
  const wanted = volumesOf(plan);
  const losses = lostVolumes(record, there).filter(({ place }) => wanted.includes(place));
  return judgeLosses(losses, definition, (node) => there.has(containerNameOf(node, definition)));
}

/** Why a node of Dgraph has no container. Null where its volume exists, and for every other part. */
export function describeLostVolume(part: string, record: VolumeRecord | null, there: ReadonlySet<string>) {
  const loss = lostVolumes(record, there).find(({ node }) => node === part);
  return loss === undefined ? null : describeLoss(loss);
}

/** Removes volumes from the record: the next start creates them again. */
export function forgetVolumes(installation: Installation, isForgotten: (volume: string) => boolean): void {
  const record = readContainers(installation);
  if (record === null) return;
  const isKept = (name: string) => !isForgotten(name);
  writeContainers(installation, { ...record, volumes: record.volumes.filter(isKept) });
}

function lostVolumes(record: VolumeRecord | null, there: ReadonlySet<string>): readonly Loss[] {
  if (record === null) return [];
  // The volume of a node of Dgraph has the name of its container.
  const nodes = new Map(record.services.map(({ name, container }) => [container, kindOf(name) === null ? null : name]));
  return record.volumes
    .filter((name) => !there.has(name))
    .map((place) => ({ place, words: `the volume ${place}`, node: nodes.get(place) ?? null, isUnreadable: false }));
}
