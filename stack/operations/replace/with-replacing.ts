import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { isUp } from '../../engines/engine-of.ts';
import { makeReady } from '../../engines/prepare-plan.ts';
import { checkPlace, settlePlace } from '../../place/settle-place.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import { makeFolder } from '../../state/folder.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { up } from '../up.ts';
import type { ReplaceProgress } from './replace.ts';
import { readReplacement } from './replacement.ts';
import { settleReplacement } from './settle-replacement.ts';
import { sideName } from './side.ts';

export interface ReplacingOptions {
  readonly installation: Installation;
  readonly env: EnvRecord;
  readonly onProgress?: (progress: ReplaceProgress) => void;
  readonly signal?: AbortSignal;
  /** What has happened when only the start is left, as the beginning of a sentence. */
  readonly done: string;
}

export interface Replacing {
  readonly onProgress: (progress: ReplaceProgress) => void;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
  /** Called once the person agreed: makes what the plan needs. Returns whether the platform runs. */
  readonly begin: (plan: Plan) => Promise<boolean>;
}

interface Outcome {
  readonly downMs: number | null;
}

/**
 * Holds the lock of a command while data is replaced, ends first what a killed command began, and starts the platform again if it ran before.
 */
export async function withReplacing<Result extends Outcome>(
  options: ReplacingOptions,
  work: (replacing: Replacing) => Promise<Result>,
): Promise<Result> {
  const { onProgress = () => undefined, signal = new AbortController().signal } = options;
  const known = { ...options, onProgress, signal };
  const { installation, env } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  makeFolder(installation.stateDir, 0o700);
  const lock = acquireLock(installation, 'command');
  let restart = false;
  let stoppedAt = 0;
  const begin = async (plan: Plan) => {
    settlePlace(installation, onNotice);
    await makeReady(plan, onNotice);
    restart ||= isUp(installation);
    stoppedAt = performance.now();
    return restart;
  };
  try {
    checkPlace(installation);
    const settled = await settleReplacement(installation, { env, onNotice });
    restart = settled?.wasRunning === true && !isUp(installation);
    const result = await work({ onProgress, onNotice, signal, begin });
    // The start is an ordinary one, which takes the lock itself.
    lock.release();
    if (!restart) return result;
    await start(known);
    return { ...result, downMs: performance.now() - stoppedAt };
  } catch (error) {
    lock.release();
    if (restart && readReplacement(installation) === null && !isUp(installation)) {
      await startAgain(known, error);
    }
    throw error;
  } finally {
    lock.release();
  }
}

async function start({ installation, env, onProgress, signal, done }: Required<ReplacingOptions>): Promise<void> {
  onProgress({ kind: 'step', step: 'start' });
  try {
    await up({ installation, env, onProgress, signal });
  } catch (error) {
    if (signal.aborted) {
      const side = sideName(readDefinition(installation.definitionFile));
      onProgress({ kind: 'notice', message: `It was not started. It is ${side}; to start it: svc up` });
    }
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    const command = readReplacement(installation)?.command ?? 'move';
    throw new SvcError(error.code, `${done}, and what is there now does not start: ${error.message}`, {
      hint: `${error.hint ?? ''}\nTo go back: svc ${command} --undo`.trim(),
      cause: error,
    });
  }
}

async function startAgain(
  { installation, env, onProgress }: Required<ReplacingOptions>,
  cause: unknown,
): Promise<void> {
  onProgress({ kind: 'notice', message: 'Nothing was changed; the platform is started again as it was.' });
  await up({ installation, env, onProgress }).catch((error: unknown) => {
    throw new AggregateError([cause, error], 'Nothing was changed, and the platform did not start again: svc up');
  });
}
