import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { journalDescriptor, parseJournalLine, type SuiteResult, workersFolderVariable } from './journal.ts';

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(here, '../../node_modules/vitest/vitest.mjs');

/** After SIGTERM, the processes of the tests have this long to end before SIGKILL. */
const graceMs = 3000;
/** vitest closes its workers within 10 s of the last result. Beyond this it is stuck, and no result is lost. */
const closingMs = 20_000;

export interface BatchOptions {
  readonly root: string;
  /** Paths or parts of paths; an empty list means every suite. */
  readonly filters: readonly string[];
  readonly fileLimitMs: number;
  /** Ends the batch at the limit of the whole run or at an interruption. */
  readonly signal: AbortSignal;
  readonly onSuite: (suite: SuiteResult) => void;
}

export interface Batch {
  readonly planned: readonly string[];
  readonly started: ReadonlySet<string>;
  readonly suites: readonly SuiteResult[];
  /** Suites that ran longer than a suite may, and were ended. */
  readonly hung: ReadonlySet<string>;
  /** True if vitest reported its own end. Then an unfinished suite has lost its worker. */
  readonly complete: boolean;
  /** Errors that no test awaited, as vitest names them. */
  readonly strays: readonly string[];
  readonly exit: string;
}

/** One vitest process in a separate group, watched from outside, so that signals can enforce the limits. */
export async function runVitest(options: BatchOptions): Promise<Batch> {
  const seen = { planned: [] as string[], suites: [] as SuiteResult[], strays: [] as string[] };
  const started = new Set<string>();
  const hung = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let complete = false;

  const workers = mkdtempSync(join(tmpdir(), 'svc-test-workers-'));
  const child = startVitest(options, workers);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const end = () => endGroup(child.pid);
  const enforceLimit = (file: string) => {
    const outcome = killWorker(workers, join(options.root, file));
    if (outcome !== 'already dead') hung.add(file);
    if (outcome === 'unknown') end();
  };
  if (options.signal.aborted) end();
  options.signal.addEventListener('abort', end);

  for await (const line of createInterface({ input: journalOf(child.stdio) })) {
    const entry = parseJournalLine(line);
    switch (entry?.kind) {
      case 'planned':
        seen.planned.push(...entry.files);
        break;
      case 'started':
        started.add(entry.file);
        timers.set(entry.file, setTimeout(enforceLimit, options.fileLimitMs, entry.file));
        break;
      case 'finished':
        clearTimeout(timers.get(entry.suite.file));
        seen.suites.push(entry.suite);
        options.onSuite(entry.suite);
        break;
      case 'ended':
        complete = true;
        seen.strays.push(...entry.strays);
        for (const timer of timers.values()) clearTimeout(timer);
        timers.set('closing', setTimeout(end, closingMs));
        break;
    }
  }
  const exit = await exited;
  for (const timer of timers.values()) clearTimeout(timer);
  options.signal.removeEventListener('abort', end);
  if (options.signal.aborted) await groupEnds(child.pid);
  killGroup(child.pid, 'SIGKILL');
  rmSync(workers, { recursive: true, force: true });
  return { ...seen, started, hung, complete, exit };
}

function startVitest({ root, filters }: BatchOptions, workers: string) {
  const args = ['run', '--config', join(here, '../vitest.config.ts'), '--root', root];
  const reporters = ['--reporter=minimal', `--reporter=${join(here, 'journal-reporter.ts')}`];
  // Inside a suite of an outer vitest (the runner's own tests), vitest would read the outer one's variables as its own.
  const outer = (name: string) => name.startsWith('VITEST') || name === 'NODE_ENV' || name === 'TEST';
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer(name)));
  const withParent = ['--require', join(here, '../end-with-parent.cjs')];
  return spawn(process.execPath, [...withParent, vitest, ...args, ...reporters, ...filters], {
    cwd: root,
    env: { ...env, [workersFolderVariable]: workers },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
  });
}

function journalOf(stdio: readonly unknown[]): Readable {
  return stdio[journalDescriptor] as Readable;
}

/** Ends one suite's worker; vitest notices and continues with the others. */
function killWorker(workers: string, suite: string): 'killed' | 'already dead' | 'unknown' {
  let pid: number;
  try {
    pid = Number(readFileSync(join(workers, encodeURIComponent(suite)), 'utf8'));
  } catch {
    return 'unknown';
  }
  try {
    process.kill(pid, 'SIGKILL');
    return 'killed';
  } catch {
    return 'already dead';
  }
}

function endGroup(pid: number | undefined): void {
  killGroup(pid, 'SIGTERM');
  setTimeout(() => killGroup(pid, 'SIGKILL'), graceMs).unref();
}

/** vitest ends before the processes that its tests started, so they get the rest of the grace period. */
async function groupEnds(pid: number | undefined): Promise<void> {
  const deadline = performance.now() + graceMs;
  while (killGroup(pid, 0) && performance.now() < deadline) await delay(50);
}

/** False when nothing is left in the group. */
function killGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
