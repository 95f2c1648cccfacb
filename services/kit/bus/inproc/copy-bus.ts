import { copyFile, open, rm } from 'node:fs/promises';
import { SvcError } from '../../../contracts/errors.ts';

/** The platform restarts its log after a megabyte of writes at the earliest, which takes longer than a copy. */
const attemptsMax = 20;

/**
 * Copies the file of a bus while a platform has it open. The platform locks the database, so the files are copied: the database, then
 * its log. The log has everything that was written into the database during the copy, as after a crash. If the log was restarted, the copy
 * is repeated.
 */
export async function copyBus(file: string, target: string): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const before = await logHeader(`${file}-wal`);
    await copyFile(file, target);
    await rm(`${target}-wal`, { force: true });
    await copyFile(`${file}-wal`, `${target}-wal`).catch(tolerateMissing);
    if (before === (await logHeader(`${file}-wal`))) return;
  }
  throw new SvcError('unavailable', `"${file}" changed during each of ${attemptsMax} attempts to copy it.`, {
    hint: 'Try again when the platform has less to do.',
  });
}

const headerBytes = 32;

/** A restarted log has another salt in its header (file format of SQLite, section 4.1). */
async function logHeader(log: string): Promise<string> {
  const handle = await open(log).catch(tolerateMissing);
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    return buffer.toString('hex', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** A platform that was stopped leaves no log. */
function tolerateMissing(thrown: unknown): undefined {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
  throw thrown;
}
