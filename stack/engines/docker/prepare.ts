import { aborted } from '../../machine/aborted.ts';
import { settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import type { EngineStart, Prepared } from '../engine.ts';
import { carryOut } from './carry-out.ts';
import { becomesReady, patienceMs } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { decide } from './decide.ts';
import { type DockerState, readDockerState } from './docker-state.ts';
import { findFullVolume } from './full-volume.ts';
import { stopContainers } from './take-down.ts';

/** Compares a plan with the containers that exist. A container that differs or was changed by hand is replaced, the others stay. */
export async function prepareContainers(plan: Plan, daemon: Daemon, start: EngineStart): Promise<Prepared> {
  const { installation, signal, onState, onNotice } = start;
  const first = await readDockerState(plan, daemon, start);
  const { before, present } = first;
  const { changes, byHand, isFresh, isSame } = decide(installation, first);
  for (const line of byHand) onNotice(line);
  let state: DockerState | null = first;
  const stop = async () => {
    state = null;
    await stopContainers(plan, { daemon, onState });
  };
  const apply = async () => {
    const current = state ?? (await readDockerState(plan, daemon, { ...start, onNotice: () => undefined }));
    await carryOut({
      installation,
      state: current,
      decision: decide(installation, current),
      signal,
      onState,
      onNotice,
    });
  };
  return {
    ...{ changes, isFresh },
    // Another graph has other users, so no part may keep an identity of the old one.
    mustStop: before?.isUp === true && before.settings.graph !== settingsOf(plan).graph,
    isCurrent: async () => isSame && (await areReady(first, signal)),
    async refuseFullDisk() {
      refuseFullDisk(installation);
      const full = await findFullVolume(daemon.docker, [...present.keys()]);
      if (full !== null) throw full;
    },
    ...{ stop, apply },
    async applyInForeground(onReady) {
      await apply();
      await onReady();
      await aborted(signal);
      await stop();
    },
  };
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
