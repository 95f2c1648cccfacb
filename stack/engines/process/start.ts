import { spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { rotate } from '../../logs/log-file.ts';
import { nodeFlags } from '../../machine/node-flags.ts';
import type { Plan } from '../../plan/plan.ts';
import { formatPorts } from '../../ports/port-lease.ts';
import { compileCacheOf } from '../../state/installation.ts';
import { leftProcesses } from '../../state/left-processes.ts';
import { readRecord } from '../../state/platform-record.ts';
import { startTimeOf } from '../../state/process-identity.ts';
import { isPlatformUp, type ServiceState } from '../../state/transition.ts';
import { explain } from './explain-failure.ts';
import { platformEnvironment } from './inherited-environment.ts';
import { reportStates } from './report-states.ts';
import { stopRunning } from './running-platform.ts';
import { waitUntilHealthy } from './wait-until-healthy.ts';

export interface StartOptions {
  readonly plan: Plan;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onState: (name: string, state: ServiceState) => void;
}

/** The platform reports each change of a part. A start without a report for this much longer than the limit of a part has failed. */
const silenceSpareMs = 30_000;

export interface BackgroundOptions extends StartOptions {
  /** The entry file of the process. Default: that of this package. */
  readonly program?: string;
}

/**
 * Starts the process that holds the platform and outlives this one. It takes over parts that run already. Resolves when all parts are
 * healthy.
 */
export async function startInBackground({
  plan,
  env,
  signal,
  onState,
  program = platformProgram,
}: BackgroundOptions): Promise<void> {
  const { installation } = plan;
  const before = readRecord(installation);
  const isTakeOver = before !== null && leftProcesses(before).length > 0;
  const pid = spawnPlatform(plan, env, program);
  const platform = { pid, startTime: startTimeOf(pid) ?? '' };
  try {
    const silenceMaxMs = Math.max(...plan.parts.map(({ limits }) => limits.startMaxMs)) + silenceSpareMs;
    await waitUntilHealthy({
      installation,
      platform,
      timeoutMs: silenceMaxMs,
      signal,
      onState,
      before: before?.services ?? [],
    });
  } catch (error) {
    // A start that failed leaves no process behind. Parts that ran before stay up.
    if (!isTakeOver) await stopRunning(installation, platform, { onNotice: () => undefined });
    throw error;
  }
}

export interface ForegroundOptions extends StartOptions {
  readonly onHealthy: () => Promise<void>;
}

/** Holds the platform in this process until the signal. */
export async function startInForeground({ plan, env, signal, onState, onHealthy }: ForegroundOptions): Promise<void> {
  const { failureOf } = await import('./failure.ts');
  const { runPlatform } = await import('./run-platform.ts');
  const { StartFailure } = await import('./start-failure.ts');
  const since = Date.now();
  const report = reportStates(onState);
  let healthy: Promise<void> | null = null;
  const tellHealthy = () =>
    onHealthy().catch((error: unknown) => {
      // The signal came while the callback ran.
      if (!signal.aborted) throw error;
    });
  try {
    await runPlatform({
      plan,
      env,
      foreground: true,
      isWanted: () => true,
      signal,
      onChange: (record) => {
        report(record.services);
        if (isPlatformUp(record)) healthy ??= tellHealthy();
      },
    });
  } catch (error) {
    if (error instanceof StartFailure) throw await explain(plan.installation, failureOf(error), since);
    throw error;
  } finally {
    await healthy;
  }
}

const platformProgram = fileURLToPath(new URL('./main.ts', import.meta.url));

function spawnPlatform({ installation, definition, ports }: Plan, env: EnvRecord, program: string): number {
  const path = join(installation.logsDir, 'platform.log');
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > definition.logs.fileSizeMaxMb * 1024 * 1024) rotate(path, definition.logs.filesKept);
  const output = openSync(path, 'a', 0o600);
  try {
    const told = ['--dir', installation.dir, '--ports', formatPorts(ports), '--started-by', String(process.pid)];
    // Not execa: the process outlives this one and writes to its log by itself.
    const child = spawn(process.execPath, [...nodeFlags.platform, program, ...told], {
      cwd: installation.dir,
      env: { NODE_COMPILE_CACHE: compileCacheOf(installation), ...platformEnvironment(env) },
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
