import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import { aborted } from '../../machine/aborted.ts';
import { recordData, recordNewData } from '../../place/kept-data.ts';
import { watchData } from '../../place/watch-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { recordFingerprint } from '../../secrets/secrets.ts';
import { acquireLock } from '../../state/lock.ts';
import { type PlatformRecord, removeFailure, removeRecord } from '../../state/platform-record.ts';
import { bugText, leaveFailure } from './failure.ts';
import { endLeftMcpServers } from './left-mcp-servers.ts';
import type { PartRunner } from './part-runner.ts';
import { runAsProcesses } from './parts-as-processes.ts';
import { runInside } from './parts-inside.ts';
import { type Patience, usualPatience } from './patience.ts';
import { Platform } from './platform.ts';
import { openControlOf } from './platform-control.ts';
import { ownPrograms, type Programs } from './process-plan.ts';
import { Recorder } from './recorder.ts';
import { StartFailure, step } from './start-failure.ts';
import { type TakenOver, takeOver } from './take-over.ts';

export interface RunOptions {
  readonly plan: Plan;
  /** The environment of the process. MCP servers find programs, proxies and certificate authorities through it. */
  readonly env: EnvRecord;
  /** Whether the platform lives in the process of a command. */
  readonly foreground: boolean;
  /** Asked once the platform is visible to other commands. False: nothing starts. */
  readonly isWanted: () => boolean;
  /** Stops the platform. The run resolves when it has stopped. */
  readonly signal: AbortSignal;
  /** Called with each change of the record. */
  readonly onChange?: (record: PlatformRecord) => void;
  /** The programs of parts that are processes. Default: those of this package. */
  readonly programs?: Programs;
  readonly patience?: Patience;
}

/**
 * Runs the platform until the signal, with its parts inside this process or each in its own. The record exists from the first moment to the
 * last, and the lock keeps out a second platform.
 */
export async function runPlatform(options: RunOptions): Promise<void> {
  const { plan, isWanted, patience = usualPatience } = options;
  const { installation } = plan;
  const lock = acquireLock(installation, 'platform');
  try {
    if (!isWanted()) return;
    removeFailure(installation);
    const logs = openPlatformLogs(installation, plan.definition);
    const gone = new AbortController();
    const signal = AbortSignal.any([options.signal, gone.signal]);
    const onGone = () => {
      logs.note('error', 'stopping, because the data folder is gone', { folder: installation.dataDir });
      gone.abort();
    };
    const endWatch = watchData({ installation, patience: patience.folder, onGone });
    try {
      await runParts({ ...options, signal }, logs);
      if (!gone.signal.aborted) noteData(plan, logs);
    } catch (thrown) {
      if (signal.aborted) return;
      const failure = thrown instanceof StartFailure ? thrown : new StartFailure('platform', 'start', thrown);
      const { part, check, error } = failure;
      logs.note('error', 'could not start', { part, check, reason: error.message, bug: bugText(error) });
      leaveFailure(installation, failure);
      throw failure;
    } finally {
      endWatch();
      logs.close();
      removeRecord(installation);
    }
  } finally {
    lock.release();
  }
}

async function runParts(options: RunOptions, logs: PlatformLogs): Promise<void> {
  const { plan, foreground, signal, onChange = () => undefined, patience = usualPatience } = options;
  const { installation } = plan;
  const taken = await takeOver(plan);
  // A runtime ends the MCP servers that were left in its own folder.
  await endLeftMcpServers(installation, (name) => !plan.parts.some((part) => part.name === name));
  const recorder = new Recorder({ plan, before: taken, foreground, logs, onChange });
  const runner = await openRunner(options, logs, taken);
  const platform = new Platform({ plan, runner, logs, watcher: recorder, patience });
  const control = await openControlOf({ plan, platform, recorder, signal });
  try {
    await control.started(platform.start(signal));
    recordFingerprint(installation);
    recordData(installation, plan.definition);
    logs.note('info', 'started', { version: plan.version });
    await aborted(signal);
    logs.note('info', 'stopping');
  } finally {
    await control.close();
  }
  await platform.stop();
  logs.note('info', 'stopped');
}

/** Records data that was made since the start. A full disk must not block a stop. */
function noteData({ installation, definition }: Plan, logs: PlatformLogs): void {
  try {
    recordNewData(installation, definition);
  } catch (error) {
    logs.note('error', 'could not record the data files', { reason: inWords(error) });
  }
}

async function openRunner(options: RunOptions, logs: PlatformLogs, taken: TakenOver): Promise<PartRunner> {
  const { plan, env, programs = ownPrograms(env), patience = usualPatience } = options;
  if (plan.definition.topology === 'distributed') return runAsProcesses({ plan, env, taken, programs, patience });
  return step('platform', 'start the bus', () => runInside(plan, env, logs));
}
