import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setClock } from '../../services/contracts/clocks.ts';
import { checkEnv, describeProblems, type EnvRecord } from '../../services/contracts/env/check.ts';
import { variables } from '../../services/contracts/env/variables.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { startRuntime } from '../../services/runtime/start.ts';
import { aborted } from '../machine/aborted.ts';
import { isCode } from '../machine/is-code.ts';
import { ownVersion } from '../machine/version.ts';
import { makeFolder } from '../state/folder.ts';
import { holdFolder } from '../state/lock.ts';

export interface RuntimeRun {
  /** Its variables and those that MCP servers inherit; others are ignored. */
  readonly env: EnvRecord;
  readonly log: { write(line: string): void };
  readonly signal: AbortSignal;
  /** How long failed tries to reach the platform for the first time are repeated; null: without a limit. */
  readonly waitMs: number | null;
  readonly onWarning: (warning: string) => void;
}

/**
 * Runs one runtime of another platform until the signal aborts. A platform that was reached once is waited for without
 * a limit.
 */
export async function runRuntime({ env, log, signal, waitMs, onWarning }: RuntimeRun): Promise<void> {
  checkBefore(env);
  using _lock = holdWorkingDir(workingDirOf(env));
  const refused = Promise.withResolvers<never>();
  // It may be refused before it is awaited.
  refused.promise.catch(() => {});
  const startedAt = performance.now();
  const running = await startRuntime(
    env,
    { hub: null, version: ownVersion(), log },
    {
      onRefused: refused.reject,
      onUnreachable(problem) {
        if (waitMs !== null && performance.now() - startedAt >= waitMs) refused.reject(problem);
      },
      onOtherTime: (told) => onWarning(`${told} ${setClock}`),
    },
  );
  try {
    await Promise.race([aborted(signal), refused.promise]);
  } finally {
    await running.stop();
  }
}

/** The folder for homes of MCP servers. */
export function workingDirOf({ SVC_WORKING_DIR }: EnvRecord): string {
  return resolve(SVC_WORKING_DIR || variables.runtime.SVC_WORKING_DIR.default);
}

/** Checks before a folder is created. */
function checkBefore(env: EnvRecord): void {
  const { problems } = checkEnv('runtime', env);
  if (problems.length > 0) throw new SvcError('invalid_input', describeProblems('runtime', problems));
  if (!env.BUS_CA_PATH) return;
  try {
    readFileSync(env.BUS_CA_PATH);
  } catch (cause) {
    const why = isCode(cause, 'ENOENT') ? 'does not exist' : 'cannot be read';
    throw new SvcError('invalid_input', `BUS_CA_PATH "${env.BUS_CA_PATH}" ${why}.`, {
      hint: 'svc runtime register NAME --out FILE writes that file beside the variables: copy both.',
      cause,
    });
  }
}

/** Two runtimes would end each other's MCP servers as leftovers, and share their homes. */
function holdWorkingDir(folder: string) {
  makeFolder(folder, 0o700);
  return holdFolder(
    folder,
    'runtime',
    (holder) =>
      new SvcError('conflict', `Another runtime (${holder}) works in "${folder}" already.`, {
        hint: 'Let SVC_WORKING_DIR name a separate folder for each runtime.',
      }),
  );
}
