import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { diskFull, draftEnding, isCode } from './durable-file.ts';
import { findUserName, formatMode } from './file-access.ts';

/**
 * Explains a system error about a file or folder: which one, why, and the repair. Null for any other error. It also
 * checks the cause, so that only the outlet needs to call it.
 */
export function fileFailure(thrown: unknown): SvcError | null {
  const error = thrown instanceof SvcError && thrown.code === 'internal' ? thrown.cause : thrown;
  // For an open file the system names no path.
  if (isCode(error, 'ENOSPC') && !isSystemError(error)) return diskFull(null, error);
  if (!isSystemError(error) || error.syscall.startsWith('spawn')) return null;
  const explain = explanations[error.code];
  if (explain === undefined) return null;
  const { path, syscall } = error;
  return explain({ path: path.replace(draftEnding, ''), syscall, cause: error });
}

interface Refusal {
  readonly path: string;
  readonly syscall: string;
  readonly cause: unknown;
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

/** "No such file" is included only for folders that cannot be created: a missing file means something else each time. */
const explanations: Readonly<Record<string, (refusal: Refusal) => SvcError | null>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: (refusal) =>
    new SvcError('forbidden', `"${refusal.path}" cannot be written: its file system is read-only.`, {
      hint: elsewhere,
      cause: refusal.cause,
    }),
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  EISDIR: (refusal) =>
    new SvcError('invalid_input', `"${refusal.path}" is a folder, and a file is needed there.`, {
      hint: 'Move that folder away and try again.',
      cause: refusal.cause,
    }),
  ENOENT: (refusal) =>
    refusal.syscall === 'mkdir'
      ? new SvcError('invalid_input', `Cannot create a folder in "${dirname(refusal.path)}".`, {
          hint: elsewhere,
          cause: refusal.cause,
        })
      : null,
  ENAMETOOLONG: (refusal) =>
    new SvcError('invalid_input', `"${refusal.path.slice(0, 80)}…" is longer than a path may be.`, {
      hint: elsewhere,
      cause: refusal.cause,
    }),
  ENOSPC: (refusal) => diskFull(refusal.path, refusal.cause),
  EDQUOT: (refusal) => diskFull(refusal.path, refusal.cause),
};

const elsewhere = 'Choose another folder, with --dir or SVC_DIR.';

/** The obstacle is the last visible path on the way to the file. */
function notAllowed(refusal: Refusal): SvcError {
  const { path, stats } = lastSeen(refusal.syscall === 'mkdir' ? dirname(refusal.path) : refusal.path);
  const what = `"${refusal.path}" may not be ${deeds[refusal.syscall] ?? 'used'} by ${userName(process.geteuid?.())}`;
  const subject = path === refusal.path ? 'it' : `"${path}"`;
  if (stats.uid !== process.geteuid?.()) {
    const owner = userName(stats.uid);
    const hint = `Run the command as ${owner}, or choose your own folder with --dir.`;
    return new SvcError('forbidden', `${what}: ${subject} belongs to ${owner}.`, { hint, cause: refusal.cause });
  }
  const mode = formatMode(stats.mode);
  const hint = `Give yourself access: chmod u+rwX "${path}"`;
  return new SvcError('forbidden', `${what}: the mode of ${subject} is ${mode}.`, { hint, cause: refusal.cause });
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

function notAFolder(refusal: Refusal): SvcError | null {
  const { path, stats } = lastSeen(refusal.path);
  if (stats.isDirectory()) return null;
  return new SvcError('invalid_input', `"${path}" is a file, and a folder is needed there.`, {
    hint: 'Move that file away, or choose another folder, with --dir or SVC_DIR.',
    cause: refusal.cause,
  });
}

/** The path itself, or its nearest parent that this user can see. */
function lastSeen(path: string): { readonly path: string; readonly stats: Stats } {
  try {
    return { path, stats: statSync(path) };
  } catch (error) {
    if (dirname(path) === path) throw error;
    return lastSeen(dirname(path));
  }
}

function userName(uid: number | undefined): string {
  return uid === undefined ? 'this user' : (findUserName(uid) ?? `user ${uid}`);
}
