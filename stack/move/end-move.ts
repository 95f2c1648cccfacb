import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ChangesOfKind, changesBetween } from '../../services/backend/graph/content.ts';
import { openGraphContent } from '../../services/backend/graph/open-content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';
import { stopRunning } from '../lifecycle/running-platform.ts';
import { up } from '../lifecycle/up.ts';
import { ensurePrivateFolder } from '../secrets.ts';
import { findRunning } from '../state/find-running.ts';
import { acquireLock } from '../state/lock.ts';
import type { MoveProgress } from './move.ts';
import { keptDirOf, type MoveState, readMove, writeMove } from './move-state.ts';
import { sizeOf } from './plan-move.ts';
import { settleMove } from './settle-move.ts';
import { graphName, removeKept, restoreSide } from './sides.ts';

export interface EndOptions {
  readonly installation: Installation;
  readonly env: EnvRecord;
  readonly onProgress: (progress: MoveProgress) => void;
  readonly signal?: AbortSignal;
}

/** What going back gives up. */
export interface Loss {
  readonly move: MoveState;
  /** In the graph, since the move. */
  readonly changes: readonly ChangesOfKind[];
}

/** Removes the old side that a move has kept. `tell` hears first what and how large it is. */
export async function confirmMove(
  options: EndOptions,
  tell: (move: MoveState, bytes: number) => void,
): Promise<MoveState> {
  return await withMove(options, 'confirming', async (state) => {
    const { installation } = options;
    tell(state, sizeOf(keptDirOf(installation, state)));
    writeMove(installation, { ...state, phase: 'confirming' });
    removeKept(installation, state);
  });
}

/** Goes back to the old side as it was kept. `confirm` hears what is lost, and throws where it shall not be. */
export async function undoMove(options: EndOptions, confirm: (loss: Loss) => Promise<void>): Promise<MoveState> {
  const { installation, env, onProgress, signal } = options;
  let restart = false;
  const undone = await withMove(options, 'undoing', async (state) => {
    await confirm({ move: state, changes: await lostChanges(installation, state) });
    signal?.throwIfAborted();
    const running = findRunning(installation);
    restart = running !== null;
    const step = (name: Extract<MoveProgress, { kind: 'step' }>['step']) => onProgress({ kind: 'step', step: name });
    step('stop');
    const onNotice = (message: string) => onProgress({ kind: 'notice', message });
    if (running !== null) await stopRunning(installation, running, { onNotice });
    const data = acquireLock(installation, 'platform');
    try {
      writeMove(installation, { ...state, phase: 'undoing', wasRunning: restart });
      restoreSide(installation, state, step);
    } finally {
      data.release();
    }
  });
  if (restart || (undone.phase === 'undoing' && undone.wasRunning)) {
    onProgress({ kind: 'step', step: 'start' });
    await up({ installation, env, onProgress, ...(signal === undefined ? {} : { signal }) });
  }
  return undone;
}

/** Where an earlier command was killed at the same work, finishing it is all that was left to do. */
async function withMove(
  { installation, onProgress }: EndOptions,
  phase: 'confirming' | 'undoing',
  work: (state: MoveState) => Promise<void>,
): Promise<MoveState> {
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  try {
    const settled = await settleMove(installation, (message) => onProgress({ kind: 'notice', message }));
    if (settled?.phase === phase) return settled;
    const state = readMove(installation);
    if (state === null) {
      throw new SvcError('not_found', 'There is no move that waits to be confirmed or undone.', {
        hint: 'Move with svc move --to distributed or --to embedded.',
      });
    }
    await work(state);
    return state;
  } finally {
    lock.release();
  }
}

async function lostChanges(installation: Installation, state: MoveState): Promise<readonly ChangesOfKind[]> {
  const file = join(installation.dataDir, graphName);
  const copy = join(keptDirOf(installation, state), graphName);
  if (!existsSync(file) || !existsSync(copy)) return [];
  const then = await openGraphContent({ engine: 'sqlite', file: copy, readOnly: true });
  const now = await openGraphContent({ engine: 'sqlite', file, readOnly: true });
  try {
    return await changesBetween(then, now);
  } finally {
    await then.close();
    await now.close();
  }
}
