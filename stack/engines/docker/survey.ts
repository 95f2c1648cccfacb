import type { ContainerInspectInfo } from 'dockerode';
import type { KeptBy } from '../../graph/kept-by.ts';
import { kindOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import type { EngineStart, SettledLosses, Survey } from '../engine.ts';
import { inspectContainers } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { goneVolumes, settleLostVolumes, wholeVolumes } from './lost-volumes.ts';
import { prefixOf } from './names.ts';
import { type NodesInVolumes, nodesInVolumes } from './nodes-in-volumes.ts';
import { connectToOwnDaemon } from './own-daemon.ts';
import { prepareContainers } from './prepare.ts';
import { endContainersAlone } from './run-alone.ts';
import { listVolumes, removeVolumes } from './volumes.ts';

/**
 * Finds the containers and volumes of a platform. Refuses another daemon, and an installation whose containers belong to another folder.
 */
export async function surveyContainers(start: EngineStart): Promise<Survey> {
  const { installation, env, onNotice } = start;
  const record = readContainers(installation);
  const daemon = await connectToOwnDaemon(installation, env);
  for (const shortcoming of daemon.shortcomings) if (record === null) onNotice(shortcoming);
  const { id } = readDefinition(installation.definitionFile);
  await endContainersAlone(daemon.docker, installation, id);
  const held = portsHeldBy(await inspectContainers(daemon.docker, id));
  const volumes = wholeVolumes(await listVolumes(daemon.docker, id), record);
  return {
    ownsPort: (port) => held.has(port),
    portPatienceMs: 0,
    keptBy: keptIn(volumes, record, id),
    settleLosses: (plan) => settleVolumes(plan, { ...start, daemon, volumes }),
    prepare: (plan) => prepareContainers(plan, daemon, start),
  };
}

/** Ports of this machine that running containers have. A stopped container has none: another program may have taken its port. */
function portsHeldBy(found: ReadonlyMap<string, ContainerInspectInfo>): ReadonlySet<number> {
  const bindings = [...found.values()].flatMap(({ NetworkSettings }) => Object.values(NetworkSettings.Ports));
  // Docker lists a port that is not published as null.
  return new Set(bindings.flatMap((list) => (list ?? []).map(({ HostPort }) => Number(HostPort))));
}

/** A node of Dgraph that lost its volume is still a member of its cluster. */
function keptIn(volumes: ReadonlySet<string>, record: ContainersRecord | null, id: string): KeptBy {
  return (part) => {
    const name = `${prefixOf({ id })}-${part}`;
    const isMissed = kindOf(part) !== null && record?.volumes.includes(name) === true;
    return { place: `the volume ${name}`, isThere: volumes.has(name) || isMissed };
  };
}

/** Refuses a start without a volume that this platform had: it would start empty, and look healthy. */
async function settleVolumes(
  plan: Plan,
  found: NodesInVolumes & Pick<EngineStart, 'startEmpty'>,
): Promise<SettledLosses> {
  const { daemon, volumes, startEmpty, onNotice } = found;
  const { definition, installation } = plan;
  const gone = goneVolumes(plan, { record: readContainers(installation), there: volumes });
  const asked = { definition, gone, there: volumes, startEmpty, mayKeepOut: true, onNotice };
  const { whole, copied } = gone.length === 0 ? { whole: [], copied: [] } : await settleLostVolumes(asked);
  return {
    copied,
    places: () => nodesInVolumes(plan, found),
    forget: () => forgetVolumes(whole, plan, daemon),
  };
}

/** Removes volumes from the record: the next start creates them again. */
async function forgetVolumes(names: readonly string[], plan: Plan, daemon: Daemon): Promise<void> {
  const { installation, definition } = plan;
  const record = readContainers(installation);
  if (record === null || names.length === 0) return;
  // A volume with an unfinished copy still exists.
  await removeVolumes({ docker: daemon.docker, volumes: names, installationId: definition.id });
  const isKept = (name: string) => !names.includes(name);
  const { volumes, filling } = record;
  writeContainers(installation, { ...record, volumes: volumes.filter(isKept), filling: filling.filter(isKept) });
}
