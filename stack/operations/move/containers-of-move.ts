import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inspectContainers } from '../../engines/docker/container-state.ts';
import { type Measured, measureVolumes } from '../../engines/docker/copy-volume.ts';
import { connectToDaemon } from '../../engines/docker/daemon.ts';
import { portsHeldBy } from '../../engines/docker/held-ports.ts';
import { goneVolumes, settleLostVolumes, wholeVolumes } from '../../engines/docker/lost-volumes.ts';
import { type DaemonPreparation, type PreparedDaemon, prepareDaemon } from '../../engines/docker/prepared-daemon.ts';
import { volumesOf } from '../../engines/docker/volume-of.ts';
import { listVolumes } from '../../engines/docker/volumes.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import { readContainers } from '../../state/containers-record.ts';

/** What Docker has to do with a move. */
export interface ContainersOfMove {
  /** Null where neither side is in containers. */
  readonly daemon: PreparedDaemon | null;
  /** Volumes that are there before, by name. */
  readonly volumes: ReadonlySet<string>;
  readonly measured: Measured | null;
}

export interface Between extends Omit<DaemonPreparation, 'plans'> {
  readonly from: Plan;
  readonly to: Plan;
}

/** Looks at Docker, and has it fetch and build what the move runs there; nothing that runs is changed. */
export async function containersOf({ from, to, ...preparation }: Between): Promise<ContainersOfMove> {
  const plans = [to, from].filter(({ definition }) => definition.engine === 'docker');
  const [plan] = plans;
  if (plan === undefined) return { daemon: null, volumes: new Set(), measured: null };
  const daemon = await prepareDaemon({ ...preparation, plans });
  const volumes = await listVolumes(daemon.docker, plan.definition.id);
  refuseLeft(volumes, from, to);
  if (from.definition.engine === 'docker') await refuseLostVolumes(from, volumes, preparation.onNotice);
  const { signal } = preparation;
  return { daemon, volumes, measured: await measureVolumes([...volumes], { plan, daemon, signal }) };
}

/** A move reads every volume, and Docker would create an empty one for each that is lost. */
async function refuseLostVolumes(from: Plan, volumes: ReadonlySet<string>, onNotice: (message: string) => void) {
  const record = readContainers(from.installation);
  const gone = goneVolumes(from, { record, there: volumes });
  const { definition } = from;
  if (gone.length === 0) return;
  await settleLostVolumes({
    ...{ definition, gone, there: wholeVolumes(volumes, record), onNotice },
    ...{ startEmpty: null, mayKeepOut: false },
  });
}

/** Of an earlier time: what is carried would be mixed with it. */
function refuseLeft(there: ReadonlySet<string>, from: Plan, to: Plan): void {
  const used = from.definition.engine === 'docker' ? volumesOf(from) : [];
  const wanted = to.definition.engine === 'docker' ? volumesOf(to) : [];
  const left = wanted.filter((name) => there.has(name) && !used.includes(name));
  if (left.length === 0) return;
  throw new SvcError(
    'conflict',
    `Docker has volumes of this platform already, of an earlier time, and a move fills empty ones: ${left.join(', ')}.`,
    { hint: `If nobody needs what is in them: docker volume rm ${left.join(' ')}` },
  );
}

/** Ports of this machine that its containers have, and let go of when they are stopped. */
export async function portsHeldBefore({ engine, id }: Definition, env: EnvRecord): Promise<ReadonlySet<number>> {
  if (engine !== 'docker') return new Set();
  const { docker } = await connectToDaemon(env);
  return portsHeldBy([...(await inspectContainers(docker, id)).values()]);
}
