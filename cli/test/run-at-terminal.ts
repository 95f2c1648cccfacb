import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { findProgram } from '../../stack/machine/find-program.ts';
import { svcFile } from './run-svc.ts';

/** `script` of util-linux, which gives a program a terminal. The one of macOS takes other arguments. */
export const hasTerminal = process.platform === 'linux' && findProgram('script', process.env.PATH) !== null;

export interface Answer {
  /** A text that svc prints before it waits. */
  readonly at: string;
  readonly type: string;
}

export interface AtTerminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly answers: readonly Answer[];
}

const timeoutMs = 60_000;

/** Runs the built `svc` at a terminal, answers its questions one after the other, and returns what the person sees. */
export function runAtTerminal(args: readonly string[], { cwd, env, answers }: AtTerminal) {
  const command = [process.execPath, svcFile, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1', ...env },
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const left = [...answers];
  let seen = '';
  let unanswered = '';
  return new Promise<{ readonly code: number | null; readonly seen: string }>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
      unanswered += chunk;
      const [next] = left;
      if (next === undefined || !stripVTControlCharacters(unanswered).includes(next.at)) return;
      left.shift();
      unanswered = '';
      child.stdin.write(next.type);
    });
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, seen: stripVTControlCharacters(seen).replaceAll('\r', '') }));
  });
}
