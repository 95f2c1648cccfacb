import { dataOf } from '../../parts/dgraph-node.ts';
import { toldOfLoss } from '../../place/loss-of.ts';
import { kindOf, nodeKinds, nodesOf } from '../../place/node-data.ts';
import { type Losses, type Settled, settleLosses } from '../../place/settle-losses.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import type { ContainersRecord } from '../../state/containers-record.ts';
import type { KeptData } from '../../state/place-record.ts';
import { containerNameOf } from './names.ts';
import { volumesOf } from './volume-of.ts';

export interface LostVolumes extends Pick<Losses, 'definition' | 'startEmpty' | 'mayKeepOut' | 'onNotice'> {
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
    dataOfNode: (node) => (there.has(volumeOfNode(node, definition)) ? 'present' : 'gone'),
    words: {
      tell: (data) => data.map((loss) => `the volume ${nameOf(loss)}`),
      describe: (loss) => describeLostVolume(nameOf(loss)),
      backup: 'the volumes of Dgraph',
    },
    runningPid: null,
  });
  return { ...settled, whole: settled.whole.map(nameOf) };
}

export function volumeOfNode(node: string, definition: Pick<Definition, 'id'>): string {
  return containerNameOf(node, definition);
}

/** Why a node of Dgraph has no container; null where its volume is there, and for every other part. */
export function lossOfVolume(volume: string, { part, record, there }: VolumeOfPart): string | null {
  const isLost = kindOf(part) !== null && record.volumes.includes(volume) && !wholeVolumes(there, record).has(volume);
  return isLost ? describeLostVolume(volume) : null;
}

/** Without volumes that hold an unfinished copy: such a volume counts as lost. */
export function wholeVolumes(
  there: ReadonlySet<string>,
  record: Pick<ContainersRecord, 'filling'> | null,
): ReadonlySet<string> {
  return there.difference(new Set(record?.filling));
}

/** Volumes that the platform had, that svc.yaml still asks for, and that are lost. */
export function goneVolumes(plan: Plan, { record, there }: KnownVolumes): readonly string[] {
  const wanted = volumesOf(plan);
  return (record?.volumes ?? []).filter((name) => wanted.includes(name) && !wholeVolumes(there, record).has(name));
}

interface KnownVolumes {
  readonly record: Pick<ContainersRecord, 'volumes' | 'filling'> | null;
  readonly there: ReadonlySet<string>;
}

interface VolumeOfPart {
  readonly part: string;
  readonly record: Pick<ContainersRecord, 'volumes' | 'filling'>;
  readonly there: ReadonlySet<string>;
}

function describeLostVolume(name: string): string {
  return toldOfLoss(`volume ${name}`);
}
