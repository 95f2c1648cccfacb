import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { isCode } from '../machine/is-code.ts';
import { diskFull, draftEnding } from './durable-file.ts';
import { findUserName, formatMode } from './file-access.ts';

/** Explains a system error about a file or folder: which one, why, and the repair. Null for any other error. */
export function fileFailure(thrown: unknown): SvcError | null {
  const error = thrown instanceof SvcError && thrown.code === 'internal' ? thrown.cause : thrown;
  // For an open file the system names no path.
  if (isCode(error, 'ENOSPC') && !isSystemError(error)) return diskFull(null, error);
  if (!isSystemError(error) || error.syscall.startsWith('spawn')) return null;
  const path = error.path.replace(draftEnding, '');
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return diskFull(path, error);
  const explained = explanations[error.code]?.(path, error.syscall) ?? null;
  return explained && new SvcError(explained.code, explained.message, { hint: explained.hint, cause: error });
}

interface Explanation {
  readonly code: 'forbidden' | 'invalid_input';
  readonly message: string;
  readonly hint: string;
}

const fields = ['code', 'path', 'syscall'] as const;

function isSystemError(error: unknown): error is Error & Readonly<Record<(typeof fields)[number], string>> {
  return error instanceof Error && fields.every((field) => typeof Reflect.get(error, field) === 'string');
}

const elsewhere = 'Choose another folder, with --dir or SVC_DIR.';

/** "No such file" is included only for folders that cannot be created: a missing file means something else each time. */
const explanations: Readonly<Record<string, (path: string, syscall: string) => Explanation | null>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: (path) => ({
    ...{ code: 'forbidden', hint: `Make it writable. Otherwise: ${elsewhere}` },
    message: `"${path}" cannot be written: its file system is read-only.`,
  }),
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  EISDIR: (path) => ({
    ...{ code: 'invalid_input', hint: 'Move that folder away and try again.' },
    message: `"${path}" is a folder, and a file is needed there.`,
  }),
  ENOENT: (path, syscall) =>
    syscall === 'mkdir'
      ? { code: 'invalid_input', message: `Cannot create a folder in "${dirname(path)}".`, hint: elsewhere }
      : null,
  ENAMETOOLONG: (path) => ({
    ...{ code: 'invalid_input', hint: elsewhere },
    message: `"${path.slice(0, 80)}…" is longer than a path may be.`,
  }),
};

/** The obstacle is the last visible path on the way to the file. */
function notAllowed(refused: string, syscall: string): Explanation {
  const { path, stats } = lastSeen(syscall === 'mkdir' ? dirname(refused) : refused);
  const what = `"${refused}" may not be used by ${userName(process.geteuid?.())}`;
  const subject = path === refused ? 'it' : `"${path}"`;
  if (stats.uid === process.geteuid?.()) {
    const message = `${what}: the mode of ${subject} is ${formatMode(stats.mode)}.`;
    return { code: 'forbidden', message, hint: `Give yourself access: chmod u+rwX "${path}"` };
  }
  const owner = userName(stats.uid);
  const hint = `Run the command as ${owner}, or choose your own folder with --dir.`;
  return { code: 'forbidden', message: `${what}: ${subject} belongs to ${owner}.`, hint };
}

function notAFolder(refused: string): Explanation | null {
  const { path, stats } = lastSeen(refused);
  if (stats.isDirectory()) return null;
  const hint = 'Move that file away, or choose another folder, with --dir or SVC_DIR.';
  return { code: 'invalid_input', message: `"${path}" is a file, and a folder is needed there.`, hint };
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
