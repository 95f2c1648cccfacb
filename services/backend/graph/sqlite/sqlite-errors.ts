import { SvcError } from '../../../contracts/errors.ts';

/** An error of SQLite (sqlite.org/rescode.html) as an error for the caller. Other errors stay as they are. */
export function toGraphError(thrown: unknown, file: string): unknown {
  const code = extendedCode(thrown);
  const make = code === null ? undefined : (failures[code] ?? failures[code & 0xff]);
  return make === undefined ? thrown : make(file, thrown);
}

export function isBusy(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return code === busy || code === locked;
}

/** A unique index or the primary key was violated. */
export function isTaken(thrown: unknown): boolean {
  const code = extendedCode(thrown);
  return code === constraintUnique || code === constraintPrimaryKey;
}

const busy = 5;
const locked = 6;
const constraintPrimaryKey = 1555;
const constraintUnique = 2067;

const failures: Readonly<Record<number, (file: string, cause: unknown) => SvcError>> = {
  [busy]: lockedByAnother,
  [locked]: lockedByAnother,
  8: (file, cause) =>
    unavailable(`The database "${file}" cannot be written.`, 'Check its owner, its mode and the file system.', cause),
  10: (file, cause) => unavailable(`Reading or writing the database "${file}" failed.`, 'Check the disk.', cause),
  11: damaged,
  13: full,
  // SQLITE_IOERR_SHMSIZE: the file of the memory that SQLite shares with readers could not grow.
  4874: full,
  14: (file, cause) =>
    unavailable(`The database "${file}" cannot be opened.`, 'Check that its folder exists and may be written.', cause),
  26: damaged,
};

function lockedByAnother(file: string, cause: unknown): SvcError {
  return unavailable(
    `The database "${file}" is locked by another process.`,
    'One backend at a time may use it: end the other.',
    cause,
  );
}

function full(file: string, cause: unknown): SvcError {
  return unavailable(
    `The disk is full: nothing was saved to "${file}", and nothing that was there is lost.`,
    'Make room on the disk, then try again.',
    cause,
  );
}

function damaged(file: string, cause: unknown): SvcError {
  return unavailable(
    `The database "${file}" is damaged or is no database of the platform.`,
    'Restore it from a backup: svc restore FILE',
    cause,
  );
}

function unavailable(message: string, hint: string, cause: unknown): SvcError {
  return new SvcError('unavailable', message, { hint, cause });
}

function primaryCode(thrown: unknown): number | null {
  const code = extendedCode(thrown);
  return code === null ? null : code & 0xff;
}

function extendedCode(thrown: unknown): number | null {
  if (thrown instanceof SvcError) return extendedCode(thrown.cause);
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return null;
  return typeof thrown.errcode === 'number' ? thrown.errcode : null;
}
