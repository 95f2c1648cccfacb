import { execFileSync, spawn } from 'node:child_process';
import { shellWord } from '../shell-word.ts';
import { svcFile } from './run-svc.ts';

/** Whether this machine has the program `script` of util-linux, which runs a command on a terminal of its own. */
export const canRunOnTerminal = hasScript();

export interface TerminalRun {
  readonly code: number | null;
  /** What the person saw: stdout, stderr, and the echo of typed words. */
  readonly seen: string;
}

/** Words that the person types once the terminal shows a text. */
export interface Typing {
  readonly after: string;
  readonly type: string;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly typing: readonly Typing[];
}

const timeoutMs = 60_000;

/** Runs the built `svc` for a person at a terminal. */
export function runOnTerminal(args: readonly string[], { cwd, typing }: TerminalOptions): Promise<TerminalRun> {
  const line = [process.execPath, svcFile, ...args].map(shellWord).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    let seen = '';
    let from = 0;
    const waiting = [...typing];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
      const [next] = waiting;
      if (next === undefined || !seen.slice(from).includes(next.after)) return;
      from = seen.length;
      waiting.shift();
      child.stdin.write(`${next.type}\r`);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, seen }));
    child.stdin.on('error', () => undefined);
  });
}

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).includes(
      'util-linux',
    );
  } catch {
    return false;
  }
}
