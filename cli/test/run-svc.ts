import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const svcFile = join(repository, 'dist/svc.cjs');
const usualTimeoutMs = 60_000;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The interruption is sent once stderr or stdout contains this text. */
  readonly interruptAt?: string;
  readonly node?: string;
  /** Default: a minute. */
  readonly timeoutMs?: number;
}

/** Runs the built `svc` like a script: without a terminal, in a separate environment. */
export function runSvc(args: readonly string[], options: RunOptions): Promise<Run> {
  const child = spawn(options.node ?? process.execPath, [svcFile, ...args], {
    cwd: options.cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: options.cwd,
      // The list of installations must not lie in a folder that a test looks at.
      XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...options.env,
    },
    stdio: 'pipe',
    timeout: options.timeoutMs ?? usualTimeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    let isInterrupted = false;
    const interrupt = () => {
      if (isInterrupted || options.interruptAt === undefined || !(stdout + stderr).includes(options.interruptAt))
        return;
      isInterrupted = true;
      child.kill('SIGINT');
    };
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      interrupt();
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      interrupt();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
  });
}
