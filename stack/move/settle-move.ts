import type { Installation } from '../installation.ts';
import { endLeftProcesses } from '../state/left-processes.ts';
import { acquireLock } from '../state/lock.ts';
import { isAlive } from '../state/process-identity.ts';
import { type MoveState, readMove } from './move-state.ts';
import { removeKept, restoreSide, switchSides } from './sides.ts';

/**
 * What a killed `svc move` left is taken back or finished, before anything is started: each comes to one whole side. Returns the move as it
 * was found, or null where there was nothing to do. Called by whoever has the lock of a command.
 */
export async function settleMove(
  installation: Installation,
  onNotice: (message: string) => void,
): Promise<MoveState | null> {
  const state = readMove(installation);
  if (state === null || state.phase === 'moved') return null;
  const began = `The move from ${state.from} to ${state.to} that began at ${state.startedAt}`;
  switch (state.phase) {
    case 'preparing':
      await takeBack(installation, state);
      onNotice(`${began} was cut short and was taken back: everything is as it was before.`);
      break;
    case 'switching':
      holdingData(installation, () => switchSides(installation, state, () => undefined));
      onNotice(
        `${began} was cut short and is finished now. The old side is in ${state.kept}: svc move --confirm or --undo`,
      );
      break;
    case 'confirming':
      removeKept(installation, state);
      onNotice(`${began} was confirmed, and what was left of the old side is removed now.`);
      break;
    case 'undoing':
      holdingData(installation, () => restoreSide(installation, state, () => undefined));
      onNotice(`${began} was being undone, and that is finished now: it runs ${state.from} again.`);
      break;
  }
  return state;
}

/** The old side is in its place: only what was made of the new one goes. */
export async function takeBack(installation: Installation, state: MoveState): Promise<void> {
  const { bus } = readMove(installation) ?? state;
  if (bus !== null && isAlive(bus)) await endLeftProcesses([{ name: 'nats', process: bus }]);
  removeKept(installation, state);
}

function holdingData(installation: Installation, work: () => void): void {
  const lock = acquireLock(installation, 'platform');
  try {
    work();
  } finally {
    lock.release();
  }
}
