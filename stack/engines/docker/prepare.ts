import { isDeepStrictEqual } from 'node:util';
import { aborted } from '../../machine/aborted.ts';
import { type Settings, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { recordFingerprint } from '../../secrets/secrets.ts';
import { type ContainersRecord, writeContainers } from '../../state/containers-record.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { recordCreated } from '../../state/manifest.ts';
import type { EngineStart, Prepared } from '../engine.ts';
import { applySteps } from './apply-steps.ts';
import { becomesReady, patienceMs } from './container-readiness.ts';
import type { Daemon } from './daemon.ts';
import { type DockerState, readDockerState } from './docker-state.ts';
import { networkPlansOf } from './network.ts';
import { reconcile } from './reconcile.ts';
import { removeFormerImages } from './service-image.ts';
import { isPublished } from './site.ts';
import { stopContainers } from './take-down.ts';
import { makeVolumes } from './volume-tasks.ts';
import { findFullVolume, releaseVolumes } from './volumes.ts';

/** Compares a plan with the containers that exist. A container that differs or does not run is replaced, the others stay. */
export async function prepareContainers(plan: Plan, daemon: Daemon, start: EngineStart): Promise<Prepared> {
  const { installation, foreground, signal, onState, onNotice } = start;
  const reading = { ...start, runsAlone: false };
  const first = await readDockerState(plan, daemon, reading);
  const { before, present } = first;
  const { steps, changes, isFresh, isSame } = reconcile(first);
  for (const { container, why } of steps) if (why !== null) onNotice(`${container.part.name} ${why}: it is replaced.`);
  let state: DockerState | null = first;
  const stop = async () => {
    state = null;
    await stopContainers(plan, daemon, onState);
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
      await carryOut(state ?? (await readDockerState(plan, daemon, { ...reading, onNotice: () => undefined })), start);
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

async function areReady({ wanted, daemon: { docker } }: DockerState, signal: AbortSignal): Promise<boolean> {
  const waiting = { timeoutMs: patienceMs, signal };
  const ready = await Promise.all(
    wanted.map(({ options, check }) => becomesReady(docker, options.name, check, waiting)),
  );
  return !ready.includes(false);
}

/** Makes Docker have what the plan says, and records the result. */
async function carryOut(state: DockerState, start: EngineStart): Promise<void> {
  const { daemon, plan } = state;
  const { definition, installation } = plan;
  const decision = reconcile(state);
  try {
    await provide(state, decision.record, start.signal);
    await applySteps(decision, state, start);
  } catch (error) {
    // A first start that failed leaves no container behind.
    if (decision.isFresh) await stopContainers(plan, daemon);
    throw error;
  }
  await releaseVolumes(daemon.docker, definition.id);
  await removeFormerImages(daemon.docker, installation, Object.keys(state.images));
  writeLease(installation, plan.ports, plan.wishes.filter(isPublished));
  recordFingerprint(installation);
}

/** Records everything that the installation has in Docker, and makes its volumes. */
async function provide(state: DockerState, record: ContainersRecord, signal: AbortSignal): Promise<void> {
  const { daemon, plan, wanted } = state;
  const { installation } = plan;
  recordCreated(installation, [
    ...networkPlansOf(plan.definition).map(({ Name: path }) => ({ kind: 'network', path }) as const),
    ...[...new Set(wanted.map(({ image }) => image))].map((path) => ({ kind: 'image', path }) as const),
  ]);
  const volumes = wanted.flatMap(({ volume }) => volume ?? []);
  const foreign = foreignVolumes(volumes, state);
  // A killed command leaves volumes that the next start gives to the user of the containers.
  writeContainers(installation, { ...record, volumes: record.volumes.filter((name) => !foreign.includes(name)) });
  await makeVolumes({ volumes, foreign }, { plan, daemon, signal });
  writeContainers(installation, record);
}

interface OwnedVolumes extends Pick<DockerState, 'volumes' | 'user'> {
  readonly before: Pick<ContainersRecord, 'user' | 'volumes'> | null;
}

/** Volumes that may not belong to the user of the containers. The others stay untouched, because running parts write to them. */
export function foreignVolumes(wanted: readonly string[], { before, volumes, user }: OwnedVolumes): readonly string[] {
  const handedOver = before?.user === user ? before.volumes : [];
  return wanted.filter((name) => !handedOver.includes(name) || !volumes.has(name));
}
