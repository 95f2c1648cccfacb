import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { isCode } from '../machine/is-code.ts';
import { parseJson } from '../machine/parse-json.ts';
import { startTimeOf } from './process-identity.ts';

/** Replaces the file atomically: a reader, also after a kill, finds the old content or the new. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o600): void {
  replaceWith(writeDraft(path, content, { mode, durably: false }), path);
}

/** As `writeWhole`, and durable across a loss of power: for records that must outlive their processes. */
export function writeDurably(path: string, text: string, mode = 0o600): void {
  replaceWith(writeDraft(path, text, { mode, durably: true }), path);
  syncFolder(dirname(path));
}

/** Writes the file atomically unless it exists; returns whether it did. Nothing that exists is overwritten. */
export function writeIfAbsent(path: string, text: string, mode = 0o600): boolean {
  // An existing file needs no space on a full disk.
  if (existsSync(path)) return false;
  const draft = writeDraft(path, text, { mode, durably: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
  return true;
}

/** The file's content, or null when it is missing or damaged: our records are hints, never the truth. */
export function readJson(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function replaceWith(draft: string, path: string): void {
  try {
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Names of `writeDraft`'s files: after the process that writes them. */
export const draftEnding = /\.(\d+)-[0-9a-f]{8}\.draft$/;

interface DraftOptions {
  readonly mode: number;
  readonly durably: boolean;
}

function writeDraft(path: string, content: string | Uint8Array, { mode, durably }: DraftOptions): string {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.draft`;
  try {
    const file = openSync(draft, 'wx', mode);
    try {
      writeFileSync(file, content);
      if (durably) fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // When a closed folder is the reason, that error is shown.
    if (existsSync(draft)) rmSync(draft);
    throw isCode(error, 'ENOSPC') || isCode(error, 'EDQUOT') ? diskFull(path, error) : error;
  }
  return draft;
}

export function diskFull(path: string | null, cause: unknown): SvcError {
  const what = path === null ? 'not all could be written' : `"${path}" could not be written, and is unchanged`;
  return new SvcError('unavailable', `The disk is full: ${what}.`, {
    hint: 'Free some space and try again. Show the space: df -h',
    cause,
  });
}

/** A rename is durable once its folder is synced. */
export function syncFolder(dir: string): void {
  const folder = openSync(dir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Removes unfinished files of killed processes: a draft may hold a secret that is never used. */
export function removeLeftDrafts(dir: string): void {
  for (const name of readdirSync(dir)) {
    const pid = draftEnding.exec(name)?.[1];
    if (pid !== undefined && startTimeOf(Number(pid)) === null) rmSync(join(dir, name), { force: true });
  }
}
