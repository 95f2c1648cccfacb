import { isDeepStrictEqual } from 'node:util';
import type { ContainerInspectInfo } from 'dockerode';
import type { KeptBy } from '../../graph/graph-data.ts';
import { aborted } from '../../machine/aborted.ts';
import { kindOf } from '../../place/node-data.ts';
import { type Settings, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { recordFingerprint } from '../../secrets/secrets.ts';
import { readDefinition } from '../../settings/check.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { recordCreated } from '../../state/manifest.ts';
import type { EngineStart, PartNames, Prepared, Survey } from '../engine.ts';
import { applySteps } from './apply-steps.ts';
import { becomesReady, patienceMs } from './container-readiness.ts';
import { inspectContainers } from './container-state.ts';
import type { OwnDaemon } from './daemon.ts';
import { removeFormerImages } from './images.ts';
import { findLostVolumes, forgetVolumes } from './lost-volumes.ts';
import { containerNameOf } from './names.ts';
import { networkPlansOf } from './network.ts';
import { connectToOwnDaemon } from './own-daemon.ts';
import { type Reconciliation, reconcile } from './reconcile.ts';
import { isPublished } from './site.ts';
import { endContainersAlone, stopContainers } from './take-down.ts';
import { makeVolumes } from './volume-tasks.ts';
import { findFullVolume, listVolumes, releaseVolumes } from './volumes.ts';

/** Finds the containers and volumes of a platform. Refuses another daemon, and containers that belong to another folder. */
export async function surveyContainers(start: EngineStart): Promise<Survey> {
  const { installation, env, onNotice } = start;
  const record = readContainers(installation);
  const daemon = await connectToOwnDaemon(installation, env);
  for (const shortcoming of daemon.shortcomings) if (record === null) onNotice(shortcoming);
  const definition = readDefinition(installation.definitionFile);
  const { id } = definition;
  await endContainersAlone({ plan: { installation, definition }, daemon });
  const held = portsHeldBy(await inspectContainers(daemon.docker, id));
  const there = await listVolumes(daemon.docker, id);
  return {
    ownsPort: (port) => held.has(port),
    portPatienceMs: 0,
    keptBy: keptIn(there, record, id),
    findLosses: async (plan) => findLostVolumes(plan, record, there),
    async forget(volumes) {
      if (volumes.length > 0) forgetVolumes(installation, (name) => volumes.includes(name));
    },
    prepare: (plan, restart) => prepare(plan, { daemon, restart, start }),
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
    const name = containerNameOf(part, { id });
    const isMissed = kindOf(part) !== null && record?.volumes.includes(name) === true;
    return { place: `the volume ${name}`, isThere: volumes.has(name) || isMissed };
  };
}

interface Preparing {
  readonly daemon: OwnDaemon;
  readonly restart: PartNames;
  readonly start: EngineStart;
}

/** A container that differs or does not run is replaced, the others stay. */
async function prepare(plan: Plan, { daemon, restart, start }: Preparing): Promise<Prepared> {
  const { installation, foreground, signal, onState, onNotice } = start;
  const reading = { ...start, restart, runsAlone: false };
  const first = await reconcile(plan, daemon, reading);
  const { before, steps, present, extra, changes, isFresh } = first;
  for (const { container, why } of steps) if (why !== null) onNotice(`${container.part.name} ${why}: it is replaced.`);
  const isSame = changes !== null && extra.length === 0 && steps.every(({ kind }) => kind === 'keep');
  let current: Reconciliation | null = first;
  const stop = async () => {
    current = null;
    await stopContainers({ plan, daemon, onState });
  };
  return {
    ...{ changes, isFresh },
    mustStop: before?.isUp === true && concernsAll(before.settings, settingsOf(plan)),
    isCurrent: async () => isSame && (await areReady(first, signal)),
    async refuseFullDisk() {
      refuseFullDisk(installation);
      const full = await findFullVolume(daemon.docker, [...present.keys()]);
      if (full !== null) throw full;
    },
    stop,
    async apply() {
      // A notice about an image was given before the stop.
      await carryOut(current ?? (await reconcile(plan, daemon, { ...reading, onNotice: () => undefined })), start);
      return { ended: foreground ? aborted(signal).then(stop) : Promise.resolve() };
    },
  };
}

/** Another graph has other users. Nodes of a cluster refuse a node with another secret. */
function concernsAll(before: Settings, after: Settings): boolean {
  const shared = (settings: Settings) =>
    Object.entries(settings).filter(([name]) => name === 'graph' || name.startsWith('secrets/'));
  return !isDeepStrictEqual(new Map(shared(before)), new Map(shared(after)));
}

async function areReady({ steps, daemon: { docker } }: Reconciliation, signal: AbortSignal): Promise<boolean> {
  const waiting = { timeoutMs: patienceMs, signal };
  const ready = await Promise.all(
    steps.map(({ container: { options, check } }) => becomesReady(docker, options.name, check, waiting)),
  );
  return !ready.includes(false);
}

/** Makes Docker have what the plan says, and records the result. */
async function carryOut(reconciliation: Reconciliation, start: EngineStart): Promise<void> {
  const { daemon, plan, isFresh, record } = reconciliation;
  const { definition, installation } = plan;
  try {
    await provide(reconciliation, start.signal);
    await applySteps({ ...reconciliation, ...start });
  } catch (error) {
    // A first start that failed leaves no container behind.
    if (isFresh) await stopContainers({ plan, daemon, onState: () => undefined });
    throw error;
  }
  await releaseVolumes(daemon.docker, definition.id);
  await removeFormerImages(daemon.docker, installation, Object.keys(record.images));
  writeLease(installation, plan.ports, plan.wishes.filter(isPublished));
  recordFingerprint(installation);
}

/** Records everything that the installation has in Docker, and makes its volumes. */
async function provide({ daemon, plan, steps, foreign, record }: Reconciliation, signal: AbortSignal): Promise<void> {
  const { installation } = plan;
  const containers = steps.map(({ container }) => container);
  recordCreated(installation, [
    ...networkPlansOf(plan.definition).map(({ Name: path }) => ({ kind: 'network', path }) as const),
    ...[...new Set(containers.map(({ options }) => options.Image))].map((path) => ({ kind: 'image', path }) as const),
  ]);
  // A killed command leaves volumes that the next start gives to the user of the containers.
  writeContainers(installation, { ...record, volumes: record.volumes.filter((name) => !foreign.includes(name)) });
  const volumes = containers.flatMap(({ volume }) => volume ?? []);
  await makeVolumes({ volumes, foreign }, { plan, daemon, signal });
  writeContainers(installation, record);
}
