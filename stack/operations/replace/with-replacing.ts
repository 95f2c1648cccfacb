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
import type { PlacesAccess } from './fill-places.ts';
import type { ReplaceOptions } from './replace.ts';
import { readReplacement } from './replacement.ts';
import { settleReplacement } from './settle-replacement.ts';
import { sideName } from './side.ts';

export interface ReplacingOptions extends Pick<ReplaceOptions, 'env' | 'onProgress' | 'signal'> {
  readonly installation: Installation;
  /** What has happened when only the start is left, as the beginning of a sentence. */
  readonly done: string;
}

/**
 * Holds the lock of a command while data is replaced, ends first what a killed command began, and starts the platform again if it ran before. The
 * work calls `begin` once the person agreed: it makes what the plan needs, and returns whether the platform runs. `downMs` is for how long the
 * platform was down; null where it did not run.
 */
export async function withReplacing<Result extends object>(
  options: ReplacingOptions,
  work: (access: PlacesAccess, begin: (plan: Plan) => Promise<boolean>) => Promise<Result>,
): Promise<Result & { readonly downMs: number | null }> {
  const { installation, env, signal, onProgress } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  makeFolder(installation.stateDir, 0o700);
  using lock = acquireLock(installation, 'command');
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
    const result = await work({ env, signal, onNotice }, begin);
    // The start is an ordinary one, which takes the lock itself.
    lock.release();
    if (!restart) return { ...result, downMs: null };
    await start(options);
    return { ...result, downMs: performance.now() - stoppedAt };
  } catch (error) {
    lock.release();
    if (restart && readReplacement(installation) === null && !isUp(installation)) {
      onNotice('Nothing was changed. The platform starts again.');
      await up({ installation, env, onProgress }).catch((failure: unknown) => {
        const message = 'Nothing was changed, and the platform did not start again: svc up';
        throw new AggregateError([error, failure], message);
      });
    }
    throw error;
  }
}

async function start({ installation, env, onProgress, signal, done }: ReplacingOptions): Promise<void> {
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
    throw new SvcError(error.code, `${done}, but the platform does not start: ${error.message}`, {
      hint: `${error.hint ?? ''}\nTo go back: svc ${command} --undo`.trim(),
      cause: error,
    });
  }
}
