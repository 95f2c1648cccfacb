import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';
import { readJson, writeDurably } from './durable-file.ts';
import { isAlive, ownIdentity, processIdentity } from './process-identity.ts';

/** Holds something of an installation for this process alone. */
export interface Lock {
  /** Once is enough; again does nothing. */
  release(): void;
}

/** `command`: one `svc` at a time changes an installation. `platform`: one platform at a time runs in it. */
export type LockName = 'command' | 'platform';

/**
 * Throws `conflict`, naming the holder, where another process has it. The lock is SQLite's exclusive one, because Node offers no
 * lock of files and that one is the kernel's: it ends with its process however that ends, so no lock is ever stale.
 */
export function acquireLock({ stateDir }: Installation, name: LockName): Lock {
  const database = new DatabaseSync(join(stateDir, `${name}.lock`), { timeout: 0 });
  try {
    // Nothing is ever written: no journal that a killed process could leave behind.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) throw held(stateDir, name);
    throw error;
  }
  writeDurably(holderFile(stateDir, name), JSON.stringify(ownIdentity()));
  return { release: () => (database.isOpen ? database.close() : undefined) };
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
}

function held(stateDir: string, name: LockName): SvcError {
  const holder = processIdentity.safeParse(readJson(holderFile(stateDir, name)));
  const who = holder.success && isAlive(holder.data) ? `process ${holder.data.pid}` : 'another process';
  return name === 'command'
    ? new SvcError('conflict', `Another svc (${who}) is at work on this installation.`, {
        hint: 'Wait until it has finished, then try again.',
      })
    : new SvcError('conflict', `A platform (${who}) runs in this installation already.`, { hint: 'svc status' });
}

function holderFile(stateDir: string, name: LockName): string {
  return join(stateDir, `${name}.holder.json`);
}
