import { execFile, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { findProgram } from '../../stack/machine/find-program.ts';
import { svcFile } from './run-svc.ts';

/** `script` of util-linux, which gives a program a terminal. The one of macOS takes other arguments. */
export const hasTerminal = process.platform === 'linux' && findProgram('script', process.env.PATH) !== null;

export interface Answer {
  /** A text that svc prints before it waits. */
  readonly at: string;
  readonly type: string;
  /** The person changes the width of the window before they type. */
  readonly columns?: number;
}

export interface AtTerminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly answers: readonly Answer[];
  /** Width of the terminal; default: 80. */
  readonly columns?: number;
}

export interface TerminalRun {
  readonly code: number | null;
  /** What the person sees: stdout, stderr, and the echo of typed words. */
  readonly seen: string;
  /** The same with its control sequences. */
  readonly raw: string;
  /** Whether the terminal shows what is typed after svc has ended, line by line, and its cursor. */
  readonly isSane: boolean;
}

const timeoutMs = 60_000;
const [begin, end] = ['svc begins\r\n', 'svc ended\r\n'];

/** Runs the built `svc` at a terminal, answers its questions one after the other, and returns what the person sees. */
export function runAtTerminal(args: readonly string[], { cwd, env, answers, columns = 80 }: AtTerminal) {
  const command = [process.execPath, svcFile, ...args].map(shellWord).join(' ');
  // As the shell of a person, it stays when Ctrl-C ends svc.
  const shell = `trap : INT; stty rows 24 cols ${columns}; tty; echo ${begin.trim()}; ${command}; code=$?; echo ${end.trim()}; stty -a; exit $code`;
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', shell, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1', ...env },
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const left = [...answers];
  let all = '';
  let unanswered = '';
  const answer = ({ type, columns: width }: Answer) => {
    if (width === undefined) return child.stdin.write(type);
    const [device = ''] = /\/dev\/\S+/.exec(all) ?? [];
    // The terminal tells svc, which draws its question again, before the person types.
    return execFile('stty', ['-F', device, 'cols', String(width)], () => child.stdin.write(type));
  };
  return new Promise<TerminalRun>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      all += chunk;
      unanswered += chunk;
      const [next] = left;
      if (next === undefined || !stripVTControlCharacters(unanswered).includes(next.at)) return;
      left.shift();
      unanswered = '';
      answer(next);
    });
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code) => {
      const [, after = ''] = all.split(begin);
      const [raw = '', settings = ''] = after.split(end);
      const isCursorShown = raw.lastIndexOf('\u001b[?25l') <= raw.lastIndexOf('\u001b[?25h');
      const isSane = isCursorShown && / icanon\b/.test(settings) && / echo\b/.test(settings);
      resolve({ code, seen: stripVTControlCharacters(raw).replaceAll('\r', ''), raw, isSane });
    });
  });
}
