import type { ContainerInspectInfo } from 'dockerode';
import type { KeptBy } from '../../graph/graph-data.ts';
import { kindOf } from '../../place/node-data.ts';
import { readDefinition } from '../../settings/check.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { EngineStart, Survey } from '../engine.ts';
import { inspectContainers } from './container-state.ts';
import { findLostVolumes, forgetVolumes, wholeVolumes } from './lost-volumes.ts';
import { prefixOf } from './names.ts';
import { connectToOwnDaemon } from './own-daemon.ts';
import { prepareContainers } from './prepare.ts';
import { endContainersAlone } from './take-down.ts';
import { listVolumes, removeVolumes } from './volumes.ts';

/**
 * Finds the containers and volumes of a platform. Refuses another daemon, and an installation whose containers belong to another folder.
 */
export async function surveyContainers(start: EngineStart): Promise<Survey> {
  const { installation, env, onNotice } = start;
  const record = readContainers(installation);
  const daemon = await connectToOwnDaemon(installation, env);
  for (const shortcoming of daemon.shortcomings) if (record === null) onNotice(shortcoming);
  const definition = readDefinition(installation.definitionFile);
  const { id } = definition;
  await endContainersAlone({ installation, definition }, daemon);
  const held = portsHeldBy(await inspectContainers(daemon.docker, id));
  const there = await listVolumes(daemon.docker, id);
  return {
    ownsPort: (port) => held.has(port),
    portPatienceMs: 0,
    keptBy: keptIn(wholeVolumes(there, record), record, id),
    findLosses: async (plan) => findLostVolumes(plan, { record, there }),
    async forget(volumes) {
      if (volumes.length === 0) return;
      // A volume with an unfinished copy still exists.
      await removeVolumes(daemon.docker, id, volumes);
      forgetVolumes(installation, (name) => volumes.includes(name));
    },
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
