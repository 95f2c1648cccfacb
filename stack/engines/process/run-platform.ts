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
  /** Of the process: MCP servers find programs, proxies and authorities through it. */
  readonly env: EnvRecord;
  /** Whether it lives in the process of a command that a person waits for. */
  readonly foreground: boolean;
  /** Asked once nobody can miss any more that it runs: where it is not, nothing is started. */
  readonly isWanted: () => boolean;
  /** Stops the platform; the run resolves when it has stopped. */
  readonly signal: AbortSignal;
  /** Called with each change of what the record says. */
  readonly onChange?: (record: PlatformRecord) => void;
  /** Where parts are processes: what is run as them. Default: what this package has. */
  readonly programs?: Programs;
  readonly patience?: Patience;
}

/**
 * Runs the platform until the signal, its parts inside this process or each in its own. Its record lives from the first moment to the last,
 * so that whoever comes meanwhile finds it, and its lock lets no second one in.
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
  // A runtime that is started ends what was left in its own folder.
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

/** What was made since the start. A full disk must not hold up a stop. */
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
