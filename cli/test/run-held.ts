import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Run, svcFile } from './run-svc.ts';

const holding = fileURLToPath(new URL('./held-requests.mjs', import.meta.url));

export interface HeldRun {
  readonly cwd: string;
  /** The held request: a pattern for its method and body. */
  readonly held: string;
  /** What somebody else does before the request is sent. */
  readonly meanwhile: () => Promise<unknown>;
}

/** Runs the built `svc` like a script, and holds one of its requests while somebody else does something. */
export async function runHeld(args: readonly string[], { cwd, held, meanwhile }: HeldRun): Promise<Run> {
  const child = spawn(process.execPath, ['--import', holding, svcFile, ...args], {
    cwd,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: cwd, HELD_REQUEST: held },
      XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = Promise.withResolvers<number | null>();
  child.once('close', (code) => ended.resolve(code));
  child.once('error', ended.reject);
  const isHeld = new Promise<boolean>((resolve) => {
    child.once('message', () => resolve(true));
    child.once('exit', () => resolve(false));
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  if (await isHeld) {
    await meanwhile();
    child.send('go on');
  }
  const code = await ended.promise;
  if (!(await isHeld)) throw new Error(`svc ${args.join(' ')} sent no such request: ${stdout}${stderr}`);
  return { code, stdout, stderr };
}

const timeoutMs = 30_000;
