import type { Definition } from '../../definition/definition.ts';
import { dataOf } from '../../graph/graph-parts.ts';
import { kindOf, nodeKinds, nodesOf } from '../../graph/node-data.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import { toldOfLoss } from '../../place/loss-of.ts';
import type { KeptData } from '../../place/place-record.ts';
import { copyFromAnother, type Losses, type Settled, settleLosses, vanished } from '../../place/settle-losses.ts';
import type { ContainersRecord } from './containers-record.ts';
import { containerNameOf } from './names.ts';

export interface LostVolumes extends Pick<Losses, 'definition' | 'startEmpty' | 'onNotice'> {
  /** Volumes that the platform had, by name. */
  readonly gone: readonly string[];
  readonly there: ReadonlySet<string>;
}

export interface SettledVolumes extends Pick<Settled, 'lost' | 'copied'> {
  /** Volumes that no copy brings back, by name: the platform begins without them. */
  readonly whole: readonly string[];
}

/** Decides what becomes of volumes that are gone: a node of Dgraph whose volume was made anew would rejoin empty. */
export async function settleLostVolumes({ gone, there, ...asked }: LostVolumes): Promise<SettledVolumes> {
  const { definition } = asked;
  const nodes = nodeKinds.flatMap((kind) => nodesOf(kind, definition));
  const pathOf = (volume: string) => {
    const node = nodes.find((one) => volumeOfNode(one, definition) === volume);
    return node === undefined ? volume : dataOf(node);
  };
  const nameOf = ({ path }: KeptData) => gone.find((volume) => pathOf(volume) === path) ?? path;
  const settled = await settleLosses({
    ...asked,
    missing: gone.map((volume) => ({ path: pathOf(volume), since: '' })),
    hasData: (_, node) => there.has(volumeOfNode(node, definition)),
    words: {
      tell: (data) => data.map((loss) => `the volume ${nameOf(loss)}`),
      describe: (loss) => describeLostVolume(nameOf(loss)),
      backup: 'the volumes of Dgraph',
    },
    runningPid: null,
    mayKeepOut: true,
  });
  return { ...settled, whole: settled.whole.map(nameOf) };
}

export function volumeOfNode(node: string, definition: Pick<Definition, 'id'>): string {
  return containerNameOf(node, definition);
}

/** Why a node of Dgraph has no container; null where its volume is there, and for every other part. */
export function lossOfVolume(volume: string, { part, record, there }: VolumeOfPart): string | null {
  const isLost =
    kindOf(part) !== null && record.volumes.includes(volume) && (!there.has(volume) || record.filling.includes(volume));
  return isLost ? describeLostVolume(volume) : null;
}

/** A move runs all nodes of Dgraph alone: of one that lost its volume, Docker would make an empty one. */
export function refuseLostVolumes(
  { parts, definition }: Pick<Plan, 'parts' | 'definition'>,
  known: KnownVolumes,
): void {
  const lost = parts
    .map(({ name: part }) => ({ part, volume: volumeOfNode(part, definition) }))
    .filter(({ part, volume }) => lossOfVolume(volume, { part, ...known }) !== null)
    .map(({ volume }) => `the volume ${volume}`);
  if (lost.length > 0) throw vanished(lost, null, copyFromAnother);
}

interface KnownVolumes {
  readonly record: Pick<ContainersRecord, 'volumes' | 'filling'>;
  readonly there: ReadonlySet<string>;
}

interface VolumeOfPart extends KnownVolumes {
  readonly part: string;
}

function describeLostVolume(name: string): string {
  return toldOfLoss(`volume ${name}`);
}
