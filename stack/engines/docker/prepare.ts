import { isDeepStrictEqual } from 'node:util';
import { aborted } from '../../machine/aborted.ts';
import { type Settings, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import type { EngineStart, Prepared } from '../engine.ts';
import { carryOut } from './carry-out.ts';
import { becomesReady, patienceMs } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { type DockerState, readDockerState } from './docker-state.ts';
import { findFullVolume } from './full-volume.ts';
import { reconcile } from './reconcile.ts';
import { stopContainers } from './take-down.ts';

/** Compares a plan with the containers that exist. A container that differs or does not run is replaced, the others stay. */
export async function prepareContainers(plan: Plan, daemon: Daemon, start: EngineStart): Promise<Prepared> {
  const { installation, foreground, signal, onState, onNotice } = start;
  const first = await readDockerState(plan, daemon, start);
  const { before, present } = first;
  const { steps, changes, isFresh, isSame } = reconcile(first);
  for (const { container, why } of steps) if (why !== null) onNotice(`${container.part.name} ${why}: it is replaced.`);
  let state: DockerState | null = first;
  const stop = async () => {
    state = null;
    await stopContainers(plan, { daemon, onState });
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
      await carryOut(state ?? (await readDockerState(plan, daemon, { ...start, onNotice: () => undefined })), start);
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

async function areReady(
  { wanted: { containers }, daemon: { docker } }: DockerState,
  signal: AbortSignal,
): Promise<boolean> {
  const waiting = { timeoutMs: patienceMs, signal };
  const ready = await Promise.all(
    containers.map(({ options, check }) => becomesReady(docker, options.name, check, waiting)),
  );
  return !ready.includes(false);
}
