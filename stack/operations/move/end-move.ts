import type { ChangesOfKind } from '../../../services/backend/graph/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { isUp } from '../../engines/engine-of.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { refuseCopy } from '../../state/find-original.ts';
import { makeFolder } from '../../state/folder.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { up } from '../up.ts';
import { lostChanges } from './lost-changes.ts';
import type { MoveProgress } from './move.ts';
import { keptDirOf, type MoveState, readMove, writeMove } from './move-state.ts';
import { forgetOld, goBack, settleMove } from './settle-move.ts';
import { stopPlatform } from './stop-platform.ts';

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
  /** Why they could not be counted, or null: the way back is open even where the new side is broken. */
  readonly uncounted: string | null;
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
    const onNotice = (message: string) => options.onProgress({ kind: 'notice', message });
    await forgetOld(installation, state, onNotice);
  });
}

/** Goes back to the old side as it was kept. `confirm` hears what is lost, and throws where it shall not be. */
export async function undoMove(options: EndOptions, confirm: (loss: Loss) => Promise<void>): Promise<MoveState> {
  const { installation, env, onProgress, signal } = options;
  let restart = false;
  const undone = await withMove(options, 'undoing', async (state, wasCutShort) => {
    await confirm({ move: state, ...(await lossOf(options, state)) });
    signal?.throwIfAborted();
    restart = isUp(installation) || (wasCutShort && state.wasRunning);
    const onStep = (name: Extract<MoveProgress, { kind: 'step' }>['step']) => onProgress({ kind: 'step', step: name });
    onStep('stop');
    const onNotice = (message: string) => onProgress({ kind: 'notice', message });
    await stopPlatform(installation, onProgress);
    const undoing: MoveState = { ...state, phase: 'undoing', wasRunning: restart };
    writeMove(installation, undoing);
    await goBack(installation, undoing, { onNotice, onStep });
  });
  if (restart || (undone.phase === 'undoing' && undone.wasRunning)) {
    onProgress({ kind: 'step', step: 'start' });
    await up({ installation, env, onProgress, ...(signal === undefined ? {} : { signal }) });
  }
  return undone;
}

/** Where an earlier command was killed at the same work, finishing it is all that was left to do. `work` hears whether the move itself was. */
async function withMove(
  { installation, onProgress }: EndOptions,
  phase: 'confirming' | 'undoing',
  work: (state: MoveState, wasCutShort: boolean) => Promise<void>,
): Promise<MoveState> {
  makeFolder(installation.stateDir, 0o700);
  const lock = acquireLock(installation, 'command');
  try {
    refuseCopy(installation);
    const settled = await settleMove(installation, (message) => onProgress({ kind: 'notice', message }));
    if (settled?.phase === phase) return settled;
    const state = readMove(installation);
    if (state === null) {
      throw new SvcError('not_found', 'There is no move that waits to be confirmed or undone.', {
        hint: 'Move with svc move: --to embedded or distributed, --graph sqlite or dgraph, --engine process or docker.',
      });
    }
    await work(state, settled?.phase === 'switching');
    return state;
  } finally {
    lock.release();
  }
}

async function lossOf(options: EndOptions, state: MoveState): Promise<Omit<Loss, 'move'>> {
  const { installation, env, signal = new AbortController().signal } = options;
  try {
    return { changes: await lostChanges({ installation, state, env, signal }), uncounted: null };
  } catch (error) {
    signal.throwIfAborted();
    return { changes: [], uncounted: inWords(error) };
  }
}
