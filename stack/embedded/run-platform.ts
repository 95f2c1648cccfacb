import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { SvcError } from '../../services/contracts/errors.ts';
import { type ListenerName, listeners } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { type Plan, settingsOf } from '../lifecycle/plan.ts';
import { type ServiceEvent, transition } from '../lifecycle/transition.ts';
import { urlsOf } from '../lifecycle/urls.ts';
import { writeLease } from '../ports/port-lease.ts';
import { portWishesOf } from '../ports/port-wishes.ts';
import { recordFingerprint } from '../secrets.ts';
import { isCode } from '../state/durable-file.ts';
import { acquireLock } from '../state/lock.ts';
import {
  type Failure,
  type PlatformRecord,
  removeFailure,
  removeRecord,
  writeFailure,
  writeRecord,
} from '../state/platform-record.ts';
import { ownIdentity } from '../state/process-identity.ts';
import { startPlatform } from './platform.ts';
import { openPlatformLogs, type PlatformLogs } from './platform-logs.ts';
import { StartFailure } from './start-failure.ts';

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
 * Runs the platform in this process until the signal. Its record lives from the first moment to the last, so that whoever
 * comes meanwhile finds it, and its lock lets no second one in.
 */
export async function runPlatform({ plan, env, foreground, isWanted, signal, onChange }: RunOptions): Promise<void> {
  const { installation } = plan;
  const lock = acquireLock(installation, 'platform');
  try {
    if (!isWanted()) return;
    removeFailure(installation);
    const logs = openPlatformLogs(installation, plan.definition);
    try {
      const record = openRecord({ plan, foreground, logs, onChange: (changed) => onChange?.(changed) });
      const platform = await startPlatform({ plan, env, logs, onEvent: record.move, signal });
      recordFingerprint(installation);
      logs.note('info', 'started', { version: plan.version });
      await aborted(signal);
      logs.note('info', 'stopping');
      await platform.stop();
      logs.note('info', 'stopped');
    } catch (thrown) {
      if (signal.aborted) return;
      const failure = thrown instanceof StartFailure ? thrown : new StartFailure('platform', 'start', thrown);
      const { part, check, error } = failure;
      logs.note('error', 'could not start', { part, check, reason: error.message, bug: bugText(error) });
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

interface Recording {
  readonly plan: Plan;
  readonly foreground: boolean;
  readonly logs: PlatformLogs;
  readonly onChange: (record: PlatformRecord) => void;
}

function openRecord({ plan, foreground, logs, onChange }: Recording) {
  let record: PlatformRecord = {
    ...ownIdentity(),
    version: plan.version,
    foreground,
    settings: { ...settingsOf(plan) },
    urls: urlsOf(plan.addresses),
    services: listeners.map((name) => ({
      name,
      state: 'planned' as const,
      since: new Date().toISOString(),
      url: plan.addresses.local[name],
    })),
  };
  /** Whoever starts a platform follows its record. Nobody needs that of a stop: the end of the process says it. */
  const write = ({ needed }: { needed: boolean }) => {
    try {
      writeRecord(plan.installation, record);
    } catch (error) {
      if (needed) throw error;
      logs.note('error', 'the record of a stop could not be written', { reason: String(error) });
    }
    onChange(record);
  };
  const move = (name: ListenerName, event: ServiceEvent) => {
    record = {
      ...record,
      services: record.services.map((service) => {
        const state = service.name === name ? transition(service.state, event) : service.state;
        return state === service.state ? service : { ...service, state, since: new Date().toISOString() };
      }),
    };
    // Before anybody can see that it is up: from then on its ports stay.
    if (isHealthy(record)) writeLease(plan.installation, plan.ports, portWishesOf(plan.definition));
    write({ needed: event !== 'stop' });
  };
  write({ needed: true });
  return { move };
}

function isHealthy({ services }: PlatformRecord): boolean {
  return services.every(({ state }) => state === 'healthy');
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
