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
  /** Names of volumes that the platform had. */
  readonly gone: readonly string[];
  readonly there: ReadonlySet<string>;
}

export interface SettledVolumes extends Pick<Settled, 'lost' | 'copied'> {
  /** Names of volumes that no copy replaces: the platform starts without their data. */
  readonly whole: readonly string[];
}

/** Decides what becomes of lost volumes. A Dgraph node with a new volume would rejoin its cluster empty. */
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

/** Why a Dgraph node has no container. Null where its volume exists, and for every other part. */
export function lossOfVolume(volume: string, { part, record, there }: VolumeOfPart): string | null {
  const isLost = kindOf(part) !== null && record.volumes.includes(volume) && !wholeVolumes(there, record).has(volume);
  return isLost ? describeLostVolume(volume) : null;
}

/** Leaves out volumes with an unfinished copy: they count as lost. */
export function wholeVolumes(
  there: ReadonlySet<string>,
  record: Pick<ContainersRecord, 'filling'> | null,
): ReadonlySet<string> {
  return there.difference(new Set(record?.filling));
}

/** Lost volumes that the platform had and that svc.yaml still needs. */
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
