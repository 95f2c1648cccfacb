import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';

/** Replaces the file in one step: whoever reads it, and whatever kills this process, there is the old text or the new. */
export function writeWhole(path: string, text: string): void {
  replaceWith(writeDraft(path, text, { mode: 0o600, durably: false }), path);
}

/** As `writeWhole`, and a loss of power changes nothing about it: for what must outlive the processes it speaks of. */
export function writeDurably(path: string, text: string, mode = 0o600): void {
  replaceWith(writeDraft(path, text, { mode, durably: true }), path);
  syncFolder(dirname(path));
}

/** Writes the file, whole or not at all, unless it exists; returns whether it did. Nothing that exists is ever overwritten. */
export function writeIfAbsent(path: string, text: string, mode = 0o600): boolean {
  // What is there needs no room on a full disk.
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

/** What the file holds, or null where it is missing or damaged: records of ours are hints, never the truth. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function replaceWith(draft: string, path: string): void {
  try {
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** What `writeDraft` names its files: after the process that writes them. Nobody knows a file by that name. */
export const draftEnding = /\.(\d+)-[0-9a-f]{8}\.draft$/;

function writeDraft(path: string, text: string, { mode, durably }: { mode: number; durably: boolean }): string {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.draft`;
  try {
    const file = openSync(draft, 'wx', mode);
    try {
      writeSync(file, text);
      if (durably) fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // Where there is none because the folder is closed, that is what shall be told.
    if (existsSync(draft)) rmSync(draft);
    throw isCode(error, 'ENOSPC') || isCode(error, 'EDQUOT') ? diskFull(path, error) : error;
  }
  return draft;
}

export function diskFull(path: string | null, cause: unknown): SvcError {
  const what = path === null ? 'not all could be written' : `"${path}" could not be written, and is as it was`;
  return new SvcError('unavailable', `The disk is full: ${what}.`, {
    hint: 'Free some space and try again: df -h tells how much there is.',
    cause,
  });
}

/** A rename is durable once its folder is. */
export function syncFolder(dir: string): void {
  const folder = openSync(dir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
