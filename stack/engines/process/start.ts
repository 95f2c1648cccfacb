import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { ReadinessWait } from '../../lifecycle/readiness.ts';
import { rotateLog } from '../../logs/log-file.ts';
import type { Plan } from '../../plan/plan.ts';
import { compileCacheOf, type Installation } from '../../state/installation.ts';
import { leftProcesses } from '../../state/left-processes.ts';
import { type PlatformRecord, readFailure, readRecord, removeFailure } from '../../state/platform-record.ts';
import { isAlive, type ProcessIdentity, startTimeOf } from '../../state/process-identity.ts';
import { markOf } from '../../state/process-mark.ts';
import { isPlatformUp, isUp } from '../../state/transition.ts';
import type { EngineStart, PartNames } from '../engine.ts';
import { explain, explainFailure, failureOf, StartFailure } from './failure.ts';
import { mallocVariables, nodeFlags, platformEnvironment } from './process-plan.ts';
import { stopRunning } from './stop.ts';

export interface StartOptions extends Pick<EngineStart, 'env' | 'signal' | 'onState'> {
  readonly plan: Plan;
  /** Default: none. */
  readonly restart?: PartNames;
  /** The entry file of a process in the background. Default: that of this package. */
  readonly program?: string;
}

/** The platform reports each change of a part. A start without a report for this much longer than the limit of a part has failed. */
const silenceSpareMs = 30_000;

/** Starts the process that holds the platform and outlives this one. Resolves when all parts are healthy. */
export async function startInBackground({
  plan,
  restart = new Set(),
  env,
  signal,
  onState,
  program = platformProgram,
}: StartOptions): Promise<void> {
  const { installation } = plan;
  const before = readRecord(installation);
  const isTakeOver = before !== null && leftProcesses(before).length > 0;
  signal.throwIfAborted();
  const pid = spawnPlatform(plan, { env, restart, program });
  const platform = { pid, startTime: startTimeOf(pid) ?? '' };
  try {
    const silenceMaxMs = Math.max(...plan.parts.map(({ limits }) => limits.startMaxMs)) + silenceSpareMs;
    const report = reportStates(onState, before?.services);
    await waitUntilHealthy({ installation, platform, timeoutMs: silenceMaxMs, signal, report });
  } catch (error) {
    // A start that failed leaves no process behind. Parts that ran before stay up.
    if (!isTakeOver) await stopRunning(installation, platform, { onNotice: () => undefined });
    throw error;
  }
}

/** Holds the platform in this process. Resolves when all parts are healthy; `ended` resolves once it has stopped after the signal. */
export async function startInForeground({ plan, env, signal, onState }: StartOptions) {
  const { runPlatform } = await import('./run-platform.ts');
  const since = Date.now();
  const report = reportStates(onState);
  const healthy = Promise.withResolvers<void>();
  const onChange = (record: PlatformRecord) => {
    report(record.services);
    if (isPlatformUp(record)) healthy.resolve();
  };
  const run = runPlatform({ plan, env, foreground: true, isWanted: () => true, signal, onChange });
  const ended = run.catch(async (error: unknown) => {
    throw error instanceof StartFailure ? await explain(plan.installation, failureOf(error), since) : error;
  });
  await Promise.race([healthy.promise, ended]);
  return { ended };
}

const platformProgram = fileURLToPath(new URL('./main.ts', import.meta.url));

type Spawning = Required<Pick<StartOptions, 'env' | 'restart' | 'program'>>;

function spawnPlatform({ installation, definition, ports }: Plan, { env, restart, program }: Spawning): number {
  const path = join(installation.logsDir, 'platform.log');
  rotateLog(path, definition.logs);
  const output = openSync(path, 'a', 0o600);
  try {
    const told = ['--dir', installation.dir, '--ports', JSON.stringify(ports), '--started-by', String(process.pid)];
    const restarting = [...restart].flatMap((name) => ['--restart', name]);
    // Not execa: the process outlives this one and writes to its log by itself.
    const child = spawn(process.execPath, [...nodeFlags.platform, program, ...told, ...restarting], {
      cwd: installation.dir,
      env: {
        NODE_COMPILE_CACHE: compileCacheOf(installation),
        ...mallocVariables,
        ...{ ...platformEnvironment(env), ...markOf(definition.id, 'platform') },
      },
      detached: true,
      stdio: ['ignore', output, output],
    });
    child.unref();
    // Without a listener an error event would end the command. The missing pid below tells it.
    child.on('error', () => undefined);
    if (child.pid === undefined) {
      throw new SvcError('internal', `The platform could not be started with "${process.execPath}".`);
    }
    return child.pid;
  } finally {
    closeSync(output);
  }
}

export interface WaitOptions extends ReadinessWait {
  readonly installation: Installation;
  readonly platform: ProcessIdentity;
  readonly report?: Report;
}

/** Reading the record takes a fraction of a millisecond, a start hundreds of milliseconds. */
const lookIntervalMs = 8;

/** Follows the record until every service is up. Throws why the platform or a part failed, `timeout`, `cancelled`. */
export async function waitUntilHealthy({
  installation,
  platform,
  timeoutMs,
  signal,
  report = reportStates(() => undefined),
}: WaitOptions): Promise<void> {
  const since = Date.now();
  let deadline = performance.now() + timeoutMs;
  for (;;) {
    // Asked before the record is read, so that the last record of a platform that ended is not missed.
    const alive = isAlive(platform);
    const record = readRecord(installation);
    const own = record?.pid === platform.pid ? record : null;
    const services = own?.services ?? [];
    if (report(services)) deadline = performance.now() + timeoutMs;
    if (!alive) throw await explainFailure(installation, { pid: platform.pid, since });
    if (own !== null && isPlatformUp(own)) return;
    const failure = own === null || own.isChanging ? null : readFailure(installation);
    if (failure?.pid === platform.pid) {
      // The platform goes on, so that a later command must not take this for its end.
      removeFailure(installation);
      throw await explain(installation, failure, since);
    }
    if (performance.now() >= deadline) {
      const late = services.filter((service) => !isUp(service));
      const which = late.map(({ name, state }) => `${name} is ${state}`).join(', ') || 'the platform';
      throw new SvcError('timeout', `Not healthy within ${timeoutMs / 1000} s: ${which}.`, {
        hint: `svc logs ${late[0]?.name ?? 'platform'}`,
      });
    }
    await pause(lookIntervalMs, undefined, { signal }).catch((error: unknown) => {
      throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    });
  }
}

type Report = (services: PlatformRecord['services']) => boolean;

/** Reports every state that differs from the last one, at first from the state before. The result returns whether any did. */
function reportStates(onState: EngineStart['onState'], before: PlatformRecord['services'] = []): Report {
  const reported = new Map(before.map(({ name, state }) => [name, state]));
  return (services) => {
    const changed = services.filter(({ name, state }) => reported.get(name) !== state);
    for (const { name, state } of changed) {
      onState(name, state);
      reported.set(name, state);
    }
    return changed.length > 0;
  };
}
