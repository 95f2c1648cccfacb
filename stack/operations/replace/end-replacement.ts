import { type ChangesOfKind, changesBetween } from '../../../services/backend/graph/content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { ArchiveReader } from '../../content/archive-reader.ts';
import { readBus } from '../../content/carry-bus.ts';
import { noKinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import { isUp } from '../../engines/engine-of.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { refuseCopy } from '../../state/find-original.ts';
import { makeFolder } from '../../state/folder.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { up } from '../up.ts';
import { placesOf } from './fill-places.ts';
import { refuseNoWayBack, takeBack } from './put-back.ts';
import { type ReplaceOptions, stopPlatform } from './replace.ts';
import { forgetReplacement, keptFilesOf, type Replacement, readReplacement, writeReplacement } from './replacement.ts';
import { settleReplacement } from './settle-replacement.ts';

/** The command is the one that began the replacement. */
export interface EndOptions extends Pick<ReplaceOptions, 'command' | 'env' | 'onProgress'> {
  readonly installation: Installation;
  readonly signal?: AbortSignal;
}

/** What going back gives up. */
export interface Loss {
  readonly replacement: Replacement;
  /** In the graph, since the replacement. */
  readonly changes: readonly ChangesOfKind[];
  /** Why the changes could not be counted, or null: the way back is open even if the new data cannot be read. */
  readonly uncounted: string | null;
}

/** Removes the data before. `tell` first receives what is removed and its size. */
export async function confirmReplacement(
  options: EndOptions,
  tell: (replacement: Replacement, bytes: number) => void,
): Promise<Replacement> {
  return await withWaiting(options, 'confirming', async (state) => {
    const { installation } = options;
    tell(state, sizeOf(keptFilesOf(installation, state).dir));
    forgetReplacement(installation, state);
  });
}

/** Goes back to the data before. `confirm` receives the loss, and throws to decline. */
export async function undoReplacement(
  options: EndOptions,
  confirm: (loss: Loss) => Promise<void>,
): Promise<Replacement> {
  const { installation, env, onProgress, signal = new AbortController().signal } = options;
  let restart = false;
  const undone = await withWaiting(options, 'undoing', async (state) => {
    await refuseNoWayBack(installation, state, { env, signal });
    await confirm(await lossOf(state, { ...options, signal }));
    signal.throwIfAborted();
    restart = isUp(installation);
    onProgress({ kind: 'step', step: 'stop' });
    await stopPlatform(installation, onProgress);
    const undoing: Replacement = { ...state, step: 'undoing', wasRunning: restart };
    writeReplacement(installation, undoing);
    onProgress({ kind: 'step', step: 'fill' });
    await takeBack(installation, undoing, { env, onNotice: (message) => onProgress({ kind: 'notice', message }) });
  });
  if (restart || (undone.step !== 'waiting' && undone.wasRunning)) {
    onProgress({ kind: 'step', step: 'start' });
    await up({ installation, env, onProgress, signal });
  }
  return undone;
}

/** If an earlier command was killed at the same work, settling has finished it. */
async function withWaiting(
  { installation, command, env, onProgress }: EndOptions,
  step: 'confirming' | 'undoing',
  work: (state: Replacement) => Promise<void>,
): Promise<Replacement> {
  makeFolder(installation.stateDir, 0o700);
  using _lock = acquireLock(installation, 'command');
  refuseCopy(installation);
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const settled = await settleReplacement(installation, { env, onNotice });
  // A replacement that was cut short is taken back already.
  const isUndone = step === 'undoing' && (settled?.step === 'keeping' || settled?.step === 'filling');
  if (settled?.command === command && (settled.step === step || isUndone)) return settled;
  const state = readReplacement(installation);
  if (state === null || state.command !== command) throw nothingWaits(command);
  await work(state);
  return state;
}

function nothingWaits(command: Replacement['command']): SvcError {
  const hint =
    command === 'move'
      ? 'Move with svc move: --to embedded or distributed, --graph sqlite or dgraph, --engine process or docker.'
      : 'Restore with: svc restore FILE';
  return new SvcError('not_found', `There is no ${command} that waits to be confirmed or undone.`, { hint });
}

/** Compares the graph with the kept archive. The platform may run meanwhile, and goes on. */
async function lossOf(state: Replacement, { installation, env, signal }: Required<EndOptions>): Promise<Loss> {
  const none = { replacement: state, changes: [], uncounted: null };
  if (!state.archived.graph) return none;
  try {
    const plan = readPlan(installation);
    const places = await placesOf(plan, { env, signal, onNotice: () => undefined });
    await using before = await ArchiveReader.open(keptFilesOf(installation, state).archive);
    // The sections of an archive are read in their order.
    await readBus(before);
    const opening = { kinds: { ...noKinds, graph: true }, to: 'read', isRunning: isUp(installation) } as const;
    return await withStore({ plan, places, ...opening, signal }, async ({ graph }) =>
      graph === null ? none : { ...none, changes: await changesBetween(before, graph) },
    );
  } catch (error) {
    signal.throwIfAborted();
    return { ...none, uncounted: inWords(error) };
  }
}
