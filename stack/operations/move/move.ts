import { mkdirSync } from 'node:fs';
import type { KindOfContent } from '../../../services/backend/graph/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { isUp } from '../../engines/engine-of.ts';
import { makeReady } from '../../lifecycle/make-ready.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import { settleLostData } from '../../place/kept-data.ts';
import { checkPlace, settlePlace } from '../../place/settle-place.ts';
import { readDefinition } from '../../settings/check.ts';
import { syncFolder } from '../../state/durable-file.ts';
import { makeFolder } from '../../state/folder.ts';
import type { Installation } from '../../state/installation.ts';
import type { LeftProcess } from '../../state/left-processes.ts';
import { acquireLock } from '../../state/lock.ts';
import { up } from '../up.ts';
import { ownFoldersOf } from './carry-folders.ts';
import { carryOver, keepGraph, verifyCarried, verifyKept } from './carry-over.ts';
import { elsewhereOf } from './elsewhere.ts';
import { keptDirOf, type MoveState, readMove, writeMove } from './move-state.ts';
import { type MovePlan, planMove } from './plan-move.ts';
import { settleMove, takeBack } from './settle-move.ts';
import { isSameSide, type Side, sideFor, sideName, sideOf, type WantedSide } from './side.ts';
import { keepDefinition, type SideStep, switchSides } from './sides.ts';
import { stopPlatform } from './stop-platform.ts';

/** What a move does, in this order. */
export type MoveStep = 'stop' | 'keep' | 'carry' | 'verify' | SideStep | 'start';

export type MoveProgress = Progress | { readonly kind: 'step'; readonly step: MoveStep };

export interface MoveOptions {
  readonly installation: Installation;
  readonly to: WantedSide;
  /** Of the shell that typed it. */
  readonly env: EnvRecord;
  readonly onProgress?: (progress: MoveProgress) => void;
  /** Asked with everything that is known, before anything is stopped. Throws where it shall not be. */
  readonly confirm: (plan: MovePlan) => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface Moved {
  /** It was there already: `waiting` for its move to be confirmed, or `unchanged`. */
  readonly state: 'moved' | 'waiting' | 'unchanged';
  readonly from: Side;
  readonly to: Side;
  readonly moved: readonly KindOfContent[];
  /** Folder of the old side, relative to the installation; null where nothing is kept. */
  readonly kept: string | null;
  /** For how long the platform was down; null where it did not run. */
  readonly downMs: number | null;
}

/**
 * Moves an installation to another side, with all it holds. The old side is kept until it is confirmed. Before the question is answered it
 * writes nothing but its lock, and ends only a move that was agreed to before and was killed.
 */
export async function move(options: MoveOptions): Promise<Moved> {
  const { installation, onProgress = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  makeFolder(installation.stateDir, 0o700);
  const lock = acquireLock(installation, 'command');
  const begin = { ...options, onProgress, signal };
  let restart = false;
  try {
    const onNotice = (message: string) => onProgress({ kind: 'notice', message });
    checkPlace(installation);
    const settled = await settleMove(installation, onNotice);
    restart = settled?.wasRunning === true && !isUp(installation);
    const definition = readDefinition(installation.definitionFile);
    // containersOf looks for lost volumes.
    if (definition.engine === 'process') {
      await settleLostData({ installation, definition, startEmpty: null, mayKeepOut: false, onNotice });
    }
    const now = sideOf(definition);
    const to = sideFor(options.to, now);
    const there = whereItIs(installation, now, to);
    if (there !== null) {
      const result: Moved = settled?.phase === 'switching' ? { ...there, state: 'moved' } : there;
      return await ended(begin, result, () => lock.release(), restart);
    }
    const plan = await planMove({
      ...begin,
      to,
      signal,
      onNotice,
    });
    await options.confirm(plan);
    signal.throwIfAborted();
    settlePlace(installation, onNotice);
    await makeReady(plan.to, onNotice);
    restart ||= plan.isUp;
    const stoppedAt = performance.now();
    const moved = await carryOut({ ...begin, plan, wasRunning: restart });
    const result = await ended(begin, moved, () => lock.release(), restart);
    return { ...result, downMs: restart ? performance.now() - stoppedAt : null };
  } catch (error) {
    lock.release();
    // Whatever went wrong with the move, the old side goes on.
    if (restart && readMove(installation) === null && !isUp(installation)) await startAgain(begin, error);
    throw error;
  } finally {
    lock.release();
  }
}

type Begun = MoveOptions & Required<Pick<MoveOptions, 'onProgress' | 'signal'>>;

/** Null where there is something to do. Throws where another move must come to its end first. */
function whereItIs(installation: Installation, now: Side, to: Side): Moved | null {
  const waiting = readMove(installation);
  if (isSameSide(now, to)) {
    const { from = now, moved = [], kept = null } = waiting ?? {};
    return { state: waiting === null ? 'unchanged' : 'waiting', from, to, moved, kept, downMs: null };
  }
  if (waiting === null) return null;
  throw new SvcError(
    'conflict',
    `The move from ${sideName(waiting.from)} to ${sideName(waiting.to)} is not confirmed yet: the old side is in ${waiting.kept}.`,
    { hint: 'If all is well: svc move --confirm. To go back to it: svc move --undo' },
  );
}

/** Up to the switch everything can be taken back, and is where something goes wrong. */
async function carryOut(options: Begun & { readonly plan: MovePlan; readonly wasRunning: boolean }): Promise<Moved> {
  const { installation, plan, env, signal, onProgress } = options;
  const step = (name: MoveStep) => onProgress({ kind: 'step', step: name });
  const startedAt = new Date().toISOString();
  const kept = `data/before-move-${startedAt.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')}`;
  const [from, to] = [sideOf(plan.from.definition), sideOf(plan.to.definition)];
  const elsewhere = { left: null, filled: null };
  const { daemon, volumes } = plan;
  const docker = daemon === null ? null : { socket: daemon.socket, volumes: [...volumes], isBusy: true };
  const folders = from.engine === to.engine ? [] : [...ownFoldersOf(plan.from)];
  const shared = { from, to, startedAt, kept, wasRunning: options.wasRunning, processes: [], elsewhere, moved: [] };
  let state: MoveState = { phase: 'preparing', isCleared: false, ...shared, docker, folders };
  const note = (next: Partial<MoveState>) => {
    state = { ...state, ...next };
    writeMove(installation, state);
  };
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  note({});
  try {
    step('stop');
    await stopPlatform(installation, onProgress);
    signal.throwIfAborted();
    const data = acquireLock(installation, 'platform');
    try {
      const born = (process: LeftProcess) => note({ processes: [...state.processes, process] });
      const carrying = { plan, env, signal, born };
      step('keep');
      mkdirSync(keptDirOf(installation, state), { mode: 0o700 });
      keepDefinition(installation, state);
      const same = await keepGraph(carrying, keptDirOf(installation, state));
      syncFolder(installation.dataDir);
      step('carry');
      note({ elsewhere: elsewhereOf(plan) });
      const carried = await carryOver(carrying);
      step('verify');
      const moved = await verifyCarried(carrying, carried);
      await verifyKept(carrying, same);
      signal.throwIfAborted();
      const idle = docker === null ? null : { ...docker, isBusy: false };
      note({ phase: 'switching', processes: [], docker: idle, moved: [...same, ...moved] });
      switchSides(installation, state, step);
    } finally {
      data.release();
    }
  } catch (error) {
    if (state.phase === 'preparing') await takeBack(installation, state, onNotice);
    throw error;
  }
  return { state: 'moved', from, to, moved: state.moved, kept, downMs: null };
}

async function ended(options: Begun, result: Moved, release: () => void, restart: boolean): Promise<Moved> {
  // From here on it is an ordinary start, which takes the lock of a command itself.
  release();
  if (!restart) return result;
  options.onProgress({ kind: 'step', step: 'start' });
  try {
    await up(options);
  } catch (error) {
    if (options.signal.aborted) {
      options.onProgress({
        kind: 'notice',
        message: `It was not started. It is ${sideName(result.to)}; to start it: svc up`,
      });
    }
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    throw new SvcError(error.code, `All was moved, and what is there now does not start: ${error.message}`, {
      hint: `${error.hint ?? ''}\nTo go back to the old side: svc move --undo`.trim(),
      cause: error,
    });
  }
  return result;
}

async function startAgain(options: Begun, cause: unknown): Promise<void> {
  options.onProgress({ kind: 'notice', message: 'Nothing was moved; the platform is started again as it was.' });
  const { installation, env, onProgress } = options;
  await up({ installation, env, onProgress }).catch((error: unknown) => {
    throw new AggregateError([cause, error], 'Nothing was moved, and the platform did not start again: svc up');
  });
}
