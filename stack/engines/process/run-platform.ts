import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import { aborted } from '../../machine/aborted.ts';
import { describeNodeLoss, recordData } from '../../place/kept-data.ts';
import { watchData } from '../../place/watch-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { recordFingerprint } from '../../secrets/secrets.ts';
import { beatMs } from '../../state/heartbeat.ts';
import type { Installation } from '../../state/installation.ts';
import { leftProcesses } from '../../state/left-processes.ts';
import { acquireLock } from '../../state/lock.ts';
import { type PlatformRecord, readRecord, removeFailure, removeRecord } from '../../state/platform-record.ts';
import type { PartNames } from '../engine.ts';
import { bugText, leaveFailure, StartFailure, step } from './failure.ts';
import type { PartRunner } from './part-runner.ts';
import { runAsProcesses } from './parts-as-processes.ts';
import { runInside } from './parts-inside.ts';
import { type Patience, usualPatience } from './patience.ts';
import { Platform } from './platform.ts';
import { ownPrograms, type Programs } from './process-plan.ts';
import { Recorder } from './recorder.ts';
import { endLeftMcpServers } from './stop.ts';
import { takeOver } from './take-over.ts';

export interface RunOptions {
  readonly plan: Plan;
  /** The environment of the process. MCP servers find programs, proxies and certificate authorities through it. */
  readonly env: EnvRecord;
  /** Parts of an earlier supervisor that restart although they run as planned. Default: none. */
  readonly restart?: PartNames;
  /** Whether the platform lives in the process of a command. */
  readonly foreground: boolean;
  /** Asked once the platform is visible to other commands. False: nothing starts. */
  readonly isWanted: () => boolean;
  readonly signal: AbortSignal;
  readonly onChange?: (record: PlatformRecord) => void;
  /** The programs of parts that are processes. Default: those of this package. */
  readonly programs?: Programs;
  readonly patience?: Patience;
}

/** Runs the platform until the signal. Its record exists all the time, and the lock keeps out a second one. */
export async function runPlatform(options: RunOptions): Promise<void> {
  const usual = {
    restart: new Set<string>(),
    onChange: () => undefined,
    programs: ownPrograms(options.env),
    patience: usualPatience,
  };
  const run = { ...usual, ...options };
  const { plan, isWanted, patience } = run;
  const { installation } = plan;
  using _lock = acquireLock(installation, 'platform');
  if (!isWanted()) return;
  removeFailure(installation);
  const logs = openPlatformLogs(installation, plan.definition);
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const onGone = () => {
    logs.note('error', 'stopping, because the data folder is gone', { folder: installation.dataDir });
    gone.abort();
  };
  const endWatch = watchData(installation, patience.folder, onGone);
  try {
    await runParts({ ...run, signal }, logs);
    if (!gone.signal.aborted) noteData(logs, () => recordData(installation, plan.definition));
  } catch (thrown) {
    if (signal.aborted) return;
    throw noteFailure(thrown, installation, logs);
  } finally {
    endWatch();
    logs.close();
    removeOwnRecord(installation);
  }
}

/** A record of parts that still run stays, because nothing else names them. */
function removeOwnRecord(installation: Installation): void {
  const record = readRecord(installation);
  if (record === null || leftProcesses(record).length === 0) removeRecord(installation);
}

async function runParts(run: Required<RunOptions>, logs: PlatformLogs): Promise<void> {
  const { plan, restart, foreground, signal, onChange, patience } = run;
  const { installation } = plan;
  const left = await takeOver(plan, restart, patience);
  const recorder = new Recorder({ plan, left, foreground, logs, onChange });
  const runner = await openRunner(run, logs);
  const lossOf = (part: string) => describeNodeLoss(installation, part);
  const platform = new Platform({ plan, runner, logs, recorder, patience, lossOf });
  // Nothing reads the heartbeat of a platform in one process, and the disk of an idle laptop may sleep.
  const isWatched = plan.definition.topology === 'distributed';
  const heartbeat = isWatched ? setInterval(() => recorder.beat(), beatMs) : undefined;
  const isTakeOver = left.parts.length > 0;
  try {
    try {
      await (isTakeOver ? platform.takeOver(left.parts, signal) : platform.start(signal));
      if (isTakeOver) noteData(logs, () => recordStarted(plan));
      else recordStarted(plan);
      recorder.settled();
      logs.note('info', 'started', { version: plan.version });
    } catch (thrown) {
      if (!isTakeOver || foreground || signal.aborted) throw thrown;
      noteFailure(thrown, installation, logs);
      recorder.settled();
    }
    // A runtime ends the MCP servers that were left in its own folder.
    await endLeftMcpServers(installation, (name) => !plan.parts.some((part) => part.name === name));
    await aborted(signal);
    logs.note('info', 'stopping');
  } finally {
    await platform.stop();
    clearInterval(heartbeat);
  }
  logs.note('info', 'stopped');
}

/** Tells the failure in the log, and to the command that waits. */
function noteFailure(thrown: unknown, installation: Installation, logs: PlatformLogs): StartFailure {
  const failure = thrown instanceof StartFailure ? thrown : new StartFailure('platform', 'start', thrown);
  const { part, check, error } = failure;
  logs.note('error', 'could not start', { part, check, reason: error.message, bug: bugText(error) });
  leaveFailure(installation, failure);
  return failure;
}

function recordStarted({ installation, definition }: Plan): void {
  recordFingerprint(installation);
  recordData(installation, definition);
}

/** A full disk must neither stop a running platform nor block its stop. */
function noteData(logs: PlatformLogs, record: () => void): void {
  try {
    record();
  } catch (error) {
    logs.note('error', 'could not record the data files', { reason: inWords(error) });
  }
}

async function openRunner(run: Required<RunOptions>, logs: PlatformLogs): Promise<PartRunner> {
  const { plan, env } = run;
  if (plan.definition.topology === 'distributed') return runAsProcesses(run);
  return step('platform', 'start the bus', () => runInside(plan, env, logs));
}
