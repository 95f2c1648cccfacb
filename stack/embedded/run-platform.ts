import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { SvcError } from '../../services/contracts/errors.ts';
import { type ListenerName, listeners } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { type Plan, readPlan, settingsOf } from '../lifecycle/plan.ts';
import { type ServiceEvent, transition } from '../lifecycle/transition.ts';
import { urlsOf } from '../lifecycle/urls.ts';
import { recordFingerprint } from '../secrets.ts';
import { acquireLock } from '../state/lock.ts';
import {
  type PlatformRecord,
  removeFailure,
  removeRecord,
  writeFailure,
  writeRecord,
} from '../state/platform-record.ts';
import { ownIdentity } from '../state/process-identity.ts';
import { startPlatform } from './platform.ts';
import { openPlatformLogs } from './platform-logs.ts';
import { StartFailure } from './start-failure.ts';

export interface RunOptions {
  readonly installation: Installation;
  /** Of the process: MCP servers find programs, proxies and authorities through it. */
  readonly env: EnvRecord;
  /** Stops the platform; the run resolves when it has stopped. */
  readonly signal: AbortSignal;
  /** Called with each change of what the record says. */
  readonly onChange?: (record: PlatformRecord) => void;
}

/**
 * Runs the platform in this process until the signal. Its record lives from the first moment to the last, so that whoever
 * comes meanwhile finds it, and its lock lets no second one in.
 */
export async function runPlatform({ installation, env, signal, onChange }: RunOptions): Promise<void> {
  const lock = acquireLock(installation, 'platform');
  try {
    removeFailure(installation);
    const plan = readPlan(installation);
    const logs = openPlatformLogs(installation, plan.definition);
    const record = openRecord(plan, (changed) => onChange?.(changed));
    try {
      const platform = await startPlatform({ plan, env, logs, onEvent: record.move, signal });
      recordFingerprint(installation);
      logs.note('info', 'started', { version: plan.version });
      await aborted(signal);
      logs.note('info', 'stopping');
      await platform.stop();
      logs.note('info', 'stopped');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StartFailure) {
        const { part, check, error: cause } = error;
        logs.note('error', 'could not start', { part, check, reason: cause.message, bug: bugText(cause) });
        leaveFailure(installation, error);
      }
      throw error;
    } finally {
      logs.close();
      removeRecord(installation);
    }
  } finally {
    lock.release();
  }
}

/** Leaves word of an end that nobody asked for, for the next command that comes. */
export function leaveFailure(installation: Installation, { part, check, error }: StartFailure): void {
  try {
    writeFailure(installation, {
      pid: process.pid,
      at: new Date().toISOString(),
      service: part,
      check,
      code: error.code,
      message: bugText(error) ?? error.message,
      hint: error.hint ?? null,
    });
  } catch {
    // A full disk, most likely. The log has it too, or will say that lines were lost.
  }
}

function bugText(error: SvcError): string | undefined {
  return error.code === 'internal' && error.cause instanceof Error ? error.cause.message : undefined;
}

function openRecord(plan: Plan, onChange: (record: PlatformRecord) => void) {
  let record: PlatformRecord = {
    ...ownIdentity(),
    version: plan.version,
    settings: { ...settingsOf(plan) },
    urls: urlsOf(plan.addresses),
    services: listeners.map((name) => ({
      name,
      state: 'planned' as const,
      since: new Date().toISOString(),
      url: plan.addresses.local[name],
    })),
  };
  const write = () => {
    writeRecord(plan.installation, record);
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
    write();
  };
  write();
  return { move };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
