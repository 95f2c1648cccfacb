import { execFileSync } from 'node:child_process';
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { diskFull } from './durable-file.ts';

/**
 * What the system refused to do with a file or folder, in words: which one, why, and what to do. Null for anything else that was thrown.
 * It also looks at the cause, so that it can be asked at the very outlet: nothing in between has to catch.
 */
export function fileFailure(thrown: unknown): SvcError | null {
  const error = thrown instanceof SvcError && thrown.code === 'internal' ? thrown.cause : thrown;
  if (!isSystemError(error) || error.syscall.startsWith('spawn')) return null;
  const explain = explanations[error.code];
  return explain === undefined ? null : explain(error);
}

interface SystemError extends Error {
  readonly code: string;
  readonly path: string;
  readonly syscall: string;
}

function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'path' in error &&
    typeof error.path === 'string' &&
    'syscall' in error &&
    typeof error.syscall === 'string'
  );
}

/** "No such file" is left out but for folders that can't be made: a file that is missing means something else each time. */
const explanations: Readonly<Record<string, (error: SystemError) => SvcError | null>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: (error) =>
    new SvcError('forbidden', `"${error.path}" cannot be written: its file system is read-only.`, {
      hint: elsewhere,
      cause: error,
    }),
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  EISDIR: (error) =>
    new SvcError('invalid_input', `"${error.path}" is a folder, and a file is needed there.`, {
      hint: 'Move that folder away and try again.',
      cause: error,
    }),
  ENOENT: (error) =>
    error.syscall === 'mkdir'
      ? new SvcError('invalid_input', `No folder can be made in "${dirname(error.path)}".`, {
          hint: elsewhere,
          cause: error,
        })
      : null,
  ENAMETOOLONG: (error) =>
    new SvcError('invalid_input', `"${error.path.slice(0, 80)}…" is longer than a path may be.`, {
      hint: elsewhere,
      cause: error,
    }),
  ENOSPC: (error) => diskFull(error.path, error),
  EDQUOT: (error) => diskFull(error.path, error),
};

const elsewhere = 'Choose another folder, with --dir or SVC_DIR.';

/** What stands in the way is what can be seen last on the way to the file. */
function notAllowed(error: SystemError): SvcError {
  const { path, stats } = lastSeen(error.syscall === 'mkdir' ? dirname(error.path) : error.path);
  const what = `"${error.path}" may not be ${deeds[error.syscall] ?? 'used'} by ${userName(process.geteuid?.())}`;
  const subject = path === error.path ? 'it' : `"${path}"`;
  if (stats.uid !== process.geteuid?.()) {
    const owner = userName(stats.uid);
    const hint = `Type it as ${owner}, or choose a folder of your own with --dir.`;
    return new SvcError('forbidden', `${what}: ${subject} belongs to ${owner}.`, { hint, cause: error });
  }
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const hint = `Open it to yourself: chmod u+rwX "${path}"`;
  return new SvcError('forbidden', `${what}: the mode of ${subject} is ${mode}.`, { hint, cause: error });
}

const deeds: Readonly<Record<string, string>> = {
  mkdir: 'made',
  open: 'opened',
  scandir: 'read',
  stat: 'looked at',
  lstat: 'looked at',
  chmod: 'changed',
  unlink: 'removed',
  rm: 'removed',
  rename: 'replaced',
  link: 'written',
};

function notAFolder(error: SystemError): SvcError | null {
  const { path, stats } = lastSeen(error.path);
  if (stats.isDirectory()) return null;
  return new SvcError('invalid_input', `"${path}" is a file, and a folder is needed there.`, {
    hint: 'Move that file away, or choose another folder, with --dir or SVC_DIR.',
    cause: error,
  });
}

/** The path itself, or the nearest above it that this user can see. */
function lastSeen(path: string): { readonly path: string; readonly stats: Stats } {
  try {
    return { path, stats: statSync(path) };
  } catch (error) {
    if (dirname(path) === path) throw error;
    return lastSeen(dirname(path));
  }
}

const askTimeoutMs = 2000;

/** As the machine's own directory of users has it; a number that has no name there stays a number. */
function userName(uid: number | undefined): string {
  if (uid === undefined) return 'this user';
  try {
    return execFileSync('id', ['-nu', String(uid)], {
      encoding: 'utf8',
      timeout: askTimeoutMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return `user ${uid}`;
  }
}
