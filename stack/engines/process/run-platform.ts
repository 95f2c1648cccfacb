import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../installation.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import { recordFingerprint } from '../../secrets.ts';
import { isCode } from '../../state/durable-file.ts';
import { acquireLock } from '../../state/lock.ts';
import {
  type Failure,
  type PlatformRecord,
  removeFailure,
  removeRecord,
  writeFailure,
} from '../../state/platform-record.ts';
import { runInside } from './parts-inside.ts';
import { Platform } from './platform.ts';
import { Recorder } from './recorder.ts';
import { StartFailure, step } from './start-failure.ts';

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
}

/**
 * Runs the platform until the signal, its parts inside this process or each in its own. Its record lives from the first moment to the last,
 * so that whoever comes meanwhile finds it, and its lock lets no second one in.
 */
export async function runPlatform({ plan, env, foreground, isWanted, signal, onChange }: RunOptions): Promise<void> {
  const { installation } = plan;
  const lock = acquireLock(installation, 'platform');
  try {
    if (!isWanted()) return;
    removeFailure(installation);
    const logs = openPlatformLogs(installation, plan.definition);
    try {
      const watcher = new Recorder({ plan, foreground, logs, onChange: (record) => onChange?.(record) });
      const runner = await step('platform', 'start the bus', () => runInside(plan, env, logs));
      const platform = new Platform({ plan, runner, logs, watcher });
      await platform.start(signal);
      recordFingerprint(installation);
      logs.note('info', 'started', { version: plan.version });
      await aborted(signal);
      logs.note('info', 'stopping');
      await platform.stop();
      logs.note('info', 'stopped');
    } catch (thrown) {
      if (signal.aborted) return;
      const failure = thrown instanceof StartFailure ? thrown : new StartFailure('platform', 'start', thrown);
      noteFailure(logs, failure);
      leaveFailure(installation, failure);
      throw failure;
    } finally {
      logs.close();
      removeRecord(installation);
    }
  } finally {
    lock.release();
  }
}

function noteFailure(logs: PlatformLogs, { part, check, error }: StartFailure): void {
  logs.note('error', 'could not start', { part, check, reason: error.message, bug: bugText(error) });
}

/** Leaves word of an end that nobody asked for, for the next command that comes. */
export function leaveFailure(installation: Installation, failure: StartFailure): void {
  try {
    writeFailure(installation, failureOf(failure));
  } catch {
    // A full disk, most likely. The log has it too, or will say that lines were lost.
  }
}

export function failureOf({ part, check, error }: StartFailure): Failure {
  return {
    pid: process.pid,
    at: new Date().toISOString(),
    service: part,
    check,
    code: error.code,
    portTaken: isCode(error.cause, 'EADDRINUSE'),
    message: bugText(error) ?? error.message,
    hint: error.hint ?? null,
  };
}

function bugText(error: SvcError): string | undefined {
  return error.code === 'internal' && error.cause instanceof Error ? error.cause.message : undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
