import { volumesOf } from '../../engines/docker/volume-of.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { readDefinition } from '../../settings/check.ts';
import type { Installation } from '../../state/installation.ts';
import { endLeftProcesses } from '../../state/left-processes.ts';
import { acquireLock } from '../../state/lock.ts';
import { isAlive } from '../../state/process-identity.ts';
import { emptyFilled } from './elsewhere.ts';
import { type MoveState, readMove } from './move-state.ts';
import { sideName } from './side.ts';
import { removeKept, restoreSide, type SideStep, switchSides } from './sides.ts';

type OnNotice = (message: string) => void;

/**
 * What a killed `svc move` left is taken back or finished, before anything is started: each comes to one whole side. Returns the move as it
 * was found, or null where there was nothing to do. Called by whoever has the lock of a command.
 */
export async function settleMove(installation: Installation, onNotice: OnNotice): Promise<MoveState | null> {
  const state = readMove(installation);
  if (state === null) return null;
  await endStarted(installation, state, onNotice);
  if (state.phase === 'moved') return null;
  const began = `The move from ${sideName(state.from)} to ${sideName(state.to)} that began at ${state.startedAt}`;
  switch (state.phase) {
    case 'preparing':
      await takeBack(installation, state, onNotice);
      onNotice(`${began} was cut short and was taken back: everything is as it was before.`);
      break;
    case 'switching':
      holdingData(installation, () => switchSides(installation, state, () => undefined));
      onNotice(
        `${began} was cut short and is finished now. The old side is in ${state.kept}: svc move --confirm or --undo`,
      );
      break;
    case 'confirming':
      await forgetOld(installation, state, onNotice);
      onNotice(`${began} was confirmed, and what was left of the old side is removed now.`);
      break;
    case 'undoing':
      await goBack(installation, state, { onNotice, onStep: () => undefined });
      onNotice(`${began} was being undone, and that is finished now: it runs ${sideName(state.from)} again.`);
      break;
  }
  return state;
}

/** The old side is in its place: only what was made of the new one goes. */
export async function takeBack(installation: Installation, state: MoveState, onNotice: OnNotice): Promise<void> {
  await endStarted(installation, readMove(installation) ?? state, onNotice);
  await emptyFilled(installation, state, onNotice);
  await removeNewVolumes(installation, state, onNotice);
  removeKept(installation, state);
}

/** What was kept of the old side goes: of its volumes those that the new one has no use for. */
export async function forgetOld(installation: Installation, state: MoveState, onNotice: OnNotice): Promise<void> {
  if (state.docker !== null && state.from.engine === 'docker') {
    const plan = readPlan(installation);
    const { engine, id } = plan.definition;
    const used = engine === 'docker' ? volumesOf(plan) : [];
    const { socket, volumes } = state.docker;
    const isWanted = (name: string) => used.includes(name) || !volumes.includes(name);
    const { removeVolumesBut } = await import('../../engines/docker/clear-after-move.ts');
    await removeVolumesBut(isWanted, { socket, id, onNotice });
  }
  removeKept(installation, state);
}

/** The side that was kept is used again, and the other one is gone. */
export async function goBack(
  installation: Installation,
  state: MoveState,
  { onNotice, onStep }: { readonly onNotice: OnNotice; readonly onStep: (step: SideStep) => void },
): Promise<void> {
  holdingData(installation, () => restoreSide(installation, state, onStep));
  await emptyFilled(installation, state, onNotice);
  await removeNewVolumes(installation, state, onNotice);
  removeKept(installation, state);
}

/** Those that were not there before. */
async function removeNewVolumes(
  { definitionFile }: Installation,
  { docker, to }: MoveState,
  onNotice: OnNotice,
): Promise<void> {
  if (docker === null || to.engine !== 'docker') return;
  const { removeVolumesBut } = await import('../../engines/docker/clear-after-move.ts');
  const { id } = readDefinition(definitionFile);
  await removeVolumesBut((name) => docker.volumes.includes(name), { socket: docker.socket, id, onNotice });
}

async function endStarted(
  installation: Installation,
  { processes, docker }: MoveState,
  onNotice: OnNotice,
): Promise<void> {
  await endLeftProcesses(processes.filter(({ process }) => isAlive(process)));
  if (docker?.isBusy !== true) return;
  const { endLeftContainers } = await import('../../engines/docker/clear-after-move.ts');
  const { id } = readDefinition(installation.definitionFile);
  await endLeftContainers(installation, { socket: docker.socket, id, onNotice });
}

function holdingData(installation: Installation, work: () => void): void {
  const lock = acquireLock(installation, 'platform');
  try {
    work();
  } finally {
    lock.release();
  }
}
