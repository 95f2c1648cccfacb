import type { Reason } from '../../contracts/bus/messages.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import { type Cause, commandNotFound, type Exit, findCause, notExecutable } from './exit-causes.ts';

/**
 * Explains the end of a child and its likely repair from exit code and stderr. Stderr is not quoted, because it may
 * contain secrets and agents read reasons; it is shown separately to users with the right to see it.
 */
export function explainExit(exit: Exit): Reason {
  const how =
    exit.signal === null ? `ended with exit code ${exit.code ?? 'unknown'}` : `was ended by the signal ${exit.signal}`;
  const cause = findCause(exit);
  const said = exit.stderr.length === 0 ? ' It wrote nothing to standard error.' : '';
  return {
    code: cause.code,
    message: `${quotedPath(exit.command)} ${how}: ${cause.what}.${said}`,
    repair: cause.repair,
  };
}

/** Explains from the system's error why a program could not be started. */
export function explainSpawnError(command: string, error: unknown): Reason {
  return explainSpawnCode(command, error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
}

export function explainSpawnCode(command: string, code: string): Reason {
  const known = isPath(command) ? (pathErrors[code] ?? spawnErrors[code]) : spawnErrors[code];
  const origin = known === commandNotFound ? (origins[command] ?? '') : '';
  return {
    code: known?.code ?? 'not_started',
    message: `Could not start ${quotedPath(command)}: ${known?.what ?? `the system said ${code}`}.${origin}`,
    repair: known?.repair ?? 'Try the command by hand on the machine of the runtime.',
  };
}

/** The programs that instructions for MCP servers name without saying where they come from. */
const origins: Readonly<Record<string, string>> = {
  uvx: ' It is part of uv.',
  npx: ' It is part of Node.js.',
  bunx: ' It is part of Bun.',
};

/** Quotes a command or a folder in a reason, shortened: it may be longer than a whole reason. */
export function quotedPath(path: string): string {
  return `"${shownLine(path, quotedMax)}"`;
}

const quotedMax = 500;

/** The system says the same of a missing file and of a script whose interpreter is missing. */
const fileNotFound: Cause = {
  code: 'command_not_found',
  what: 'this file does not exist on the machine of the runtime, or the interpreter in its first line does not',
  repair: 'Check the path and the first line of the file.',
};
const tooMuch: Cause = {
  code: 'arguments_too_large',
  what: 'its arguments and environment are larger than the system allows',
  repair: 'Pass less in args and env, for example the path of a file.',
};
const exhausted: Cause = {
  code: 'system_exhausted',
  what: 'the machine has no resources for another process',
  repair: 'Stop other programs or raise the limits of processes and open files, then wait for the next try.',
};

const pathErrors: Readonly<Record<string, Cause>> = { ENOENT: fileNotFound, ENOTDIR: fileNotFound };

function isPath(command: string): boolean {
  return command.includes('/');
}

const spawnErrors: Readonly<Record<string, Cause>> = {
  ENOENT: commandNotFound,
  EACCES: notExecutable,
  EPERM: notExecutable,
  ENOEXEC: notExecutable,
  ENOTDIR: commandNotFound,
  E2BIG: tooMuch,
  EAGAIN: exhausted,
  ENOMEM: exhausted,
  EMFILE: exhausted,
  ENFILE: exhausted,
};
