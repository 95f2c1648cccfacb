import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { Progress, UpResult } from '../lifecycle/progress.ts';
import type { StartEmpty } from '../place/losses.ts';
import { settlePlace } from '../place/settle-place.ts';
import { isLostPort } from '../ports/claim-ports.ts';
import type { Installation } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { ensurePrivateFolder } from '../state/private-folder.ts';
import { becomeCopy } from './become-copy.ts';
import { bringUp } from './bring-up.ts';
import { settleReplacement } from './replace/settle-replacement.ts';

export interface UpOptions {
  readonly installation: Installation;
  /** Of the shell that typed it: programs and proxies are found through it, and nothing else of it is passed on. */
  readonly env: EnvRecord;
  /** Runs the platform inside this process until `signal` aborts; `up` then resolves when it has stopped. */
  readonly foreground?: boolean;
  /** Gives a copied folder an identity of its own first. */
  readonly asCopy?: boolean;
  /** Asked before a start without data that is gone; without it such a start is refused. */
  readonly startEmpty?: StartEmpty;
  readonly onProgress?: (progress: Progress) => void;
  /** In the background it ends the wait and stops what this call started. */
  readonly signal?: AbortSignal;
}

/** How often a start is repeated because another program took a port after the plan was made. */
const attemptsMax = 5;

/** Makes the platform run as svc.yaml says. Run again, it changes what differs, or nothing. */
export async function up(options: UpOptions): Promise<UpResult> {
  const { installation, env, foreground = false, onProgress = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  const avoid = new Set<number>();
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const startEmpty = options.startEmpty ?? null;
  const start = { installation, env, foreground, startEmpty, onProgress, signal, avoid, release: () => lock.release() };
  try {
    if (options.asCopy) await becomeCopy({ installation, startEmpty, onNotice });
    settlePlace(installation, onNotice);
    for (let attempt = 1; ; attempt++) {
      try {
        await settleReplacement(installation, { env, onNotice });
        return await bringUp(start);
      } catch (error) {
        if (!isLostPort(error) || attempt === attemptsMax) throw error;
      }
    }
  } finally {
    lock.release();
  }
}
