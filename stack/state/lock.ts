import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SvcError } from '../../services/contracts/errors.ts';
import { diskFull, readJson, writeWhole } from './durable-file.ts';
import type { Installation } from './installation.ts';
import { isAlive, ownIdentity, type ProcessIdentity, processIdentity, svcCommandOf } from './process-identity.ts';

/** Holds a resource of an installation for this process alone. */
export interface Lock extends Disposable {
  /** Idempotent. */
  release(): void;
}

/**
 * `command`: one `svc` at a time changes an installation. `platform`: one platform at a time works on data/. Its lock
 * is in data/, so that it cannot be lost while there is data to protect.
 */
export type LockName = 'command' | 'platform';

/** Throws `conflict`, naming the holder, when another process has it. */
export function acquireLock(installation: Installation, name: LockName): Lock {
  return holdFolder(folderOf(installation, name), name, (who) => held(name, who));
}

/**
 * Locks a folder for this process alone, or throws the error that `refusal` makes of the holder. The lock is SQLite's
 * exclusive one, because Node has no file locks. The kernel releases it with its process, so no lock is ever stale.
 */
export function holdFolder(folder: string, name: string, refusal: (holder: string) => SvcError): Lock {
  const path = lockFile(folder, name);
  // SQLite does not say which file it failed to open, nor why; the system does.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: handOverMs });
  try {
    // SQLite writes to an empty file before it locks it, but a platform must also stop on a full disk.
    if (statSync(path).size === 0) database.exec('PRAGMA user_version = 1');
    // From then on nothing is written, so a killed process leaves no journal.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isResult(error, sqlite.busy)) {
      const holder = holderOf(folder, name);
      throw refusal(holder === null ? 'another process' : describeHolder(holder));
    }
    throw isResult(error, sqlite.full) ? diskFull(path, error) : error;
  }
  noteHolder(folder, name);
  const release = () => {
    if (!database.isOpen) return;
    // Removed while this process still holds the lock, because it may live on.
    rmSync(holderFile(folder, name), { force: true });
    database.close();
  };
  return { release, [Symbol.dispose]: release };
}

/** How long a lock may take to be released by an ending process. */
const handOverMs = 200;

/** Result codes of SQLite. */
const sqlite = { busy: 5, full: 13 } as const;

function isResult(error: unknown, code: number): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === code;
}

/** Such as "svc up, process 4711". */
function describeHolder({ pid }: ProcessIdentity): string {
  const command = svcCommandOf(pid);
  return command === null ? `process ${pid}` : `svc ${command}, process ${pid}`;
}

/** Only for messages about the holder: the lock itself does not need it. */
function noteHolder(folder: string, name: string): void {
  try {
    writeWhole(holderFile(folder, name), JSON.stringify(ownIdentity()));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
}

/** Whether a process holds the lock, according to the kernel. Changes nothing. */
export function isLockHeld(installation: Installation, name: LockName): boolean {
  const path = lockFileOf(installation, name);
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    return isResult(error, sqlite.busy);
  } finally {
    database.close();
  }
}

export function lockHolder(installation: Installation, name: LockName): ProcessIdentity | null {
  return holderOf(folderOf(installation, name), name);
}

function holderOf(folder: string, name: string): ProcessIdentity | null {
  const holder = processIdentity.safeParse(readJson(holderFile(folder, name))).data;
  return holder !== undefined && isAlive(holder) ? holder : null;
}

function held(name: LockName, who: string): SvcError {
  return name === 'command'
    ? new SvcError('conflict', `Another svc (${who}) is working on this installation.`, {
        hint: 'Wait until it has finished, then try again.',
      })
    : new SvcError('conflict', `A platform (${who}) runs in this installation already.`, {
        hint: 'Show its state: svc status',
      });
}

function lockFile(folder: string, name: string): string {
  return join(folder, `${name}.lock`);
}

function holderFile(folder: string, name: string): string {
  return join(folder, `${name}.holder.json`);
}

export function lockFileOf(installation: Installation, name: LockName): string {
  return lockFile(folderOf(installation, name), name);
}

function folderOf({ stateDir, dataDir }: Installation, name: LockName): string {
  return name === 'command' ? stateDir : dataDir;
}
