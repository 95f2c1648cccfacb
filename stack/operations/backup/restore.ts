import { existsSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { openBlobsContent } from '../../../services/backend/files/open-content.ts';
import { carryContent, readContent } from '../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, checkArchive } from '../../content/archive.ts';
import { ArchiveReader } from '../../content/read-archive.ts';
import { sizeText } from '../../machine/size-text.ts';
import { checkPlace, settlePlace } from '../../place/settle-place.ts';
import {
  fingerprintOf,
  fingerprintOfText,
  hasSecret,
  readSecret,
  recordFingerprint,
  secretFilesOf,
} from '../../secrets/secrets.ts';
import { blobsIn, graphIn } from '../../state/data-files.ts';
import { syncFolder, writeDurably } from '../../state/durable-file.ts';
import { bytesLeft } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { ensurePrivateFolder } from '../../state/private-folder.ts';
import { refuseOtherArrangements } from './arrangements.ts';

export interface RestoreOptions {
  readonly installation: Installation;
  readonly file: string;
  /** The key that the archive's secrets are encrypted with; null: the one in secrets/. */
  readonly encryptionKeyFile: string | null;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Restores an archive into an installation without data, after checking all of the archive. The graph gets its name last, so a killed restore leaves
 * no data and can be repeated.
 */
export async function restore(options: RestoreOptions): Promise<ArchiveContent> {
  const { installation, file, onNotice, signal } = options;
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  try {
    refuseOtherArrangements(installation, 'A restore');
    checkPlace(installation);
    const data = acquireLock(installation, 'platform');
    try {
      refuseData(installation);
      const content = await checkArchive(file, signal);
      const key = keyFor(options, content);
      refuseWithoutRoom(installation, content);
      settlePlace(installation, onNotice);
      const draft = await fill(options, content);
      signal.throwIfAborted();
      if (key !== null) writeDurably(secretFilesOf(installation).encryptionKey, key);
      putInPlace(installation, draft);
      recordFingerprint(installation);
      return content;
    } finally {
      rmSync(draftIn(installation), { recursive: true, force: true });
      data.release();
    }
  } finally {
    lock.release();
  }
}

/** Fills a draft folder with the graph and the files, and compares the graph with the archive. */
async function fill({ installation, file, signal }: RestoreOptions, expected: ArchiveContent): Promise<string> {
  const draft = draftIn(installation);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const graphFile = graphIn(draft, 'sqlite');
  const graph = await openGraphContent({ engine: 'sqlite', file: graphFile, readOnly: false });
  try {
    await using reader = await ArchiveReader.open(file);
    await carryContent(reader, graph, signal);
    await using opened = await openBlobsContent({ engine: 'folder', dir: blobsIn(draft) });
    for await (const { blob, bytes } of reader.files()) {
      signal.throwIfAborted();
      await opened.blobs.put(blob, bytes);
    }
    await reader.finish();
  } finally {
    await graph.close();
  }
  const made = await openGraphContent({ engine: 'sqlite', file: graphFile, readOnly: true });
  try {
    const found = await readContent(made, signal);
    if (JSON.stringify(found) !== JSON.stringify(expected.graph)) {
      throw new SvcError('internal', 'The graph that was made is not the one in the archive.');
    }
  } finally {
    await made.close();
  }
  return draft;
}

function putInPlace({ dataDir }: Installation, draft: string): void {
  const blobs = blobsIn(dataDir);
  // A restore killed between the two renames leaves blobs that no graph refers to.
  rmSync(blobs, { recursive: true, force: true });
  renameSync(blobsIn(draft), blobs);
  syncFolder(dataDir);
  renameSync(graphIn(draft, 'sqlite'), graphIn(dataDir, 'sqlite'));
  syncFolder(dataDir);
}

function refuseData({ dir, dataDir }: Installation): void {
  // SQLite would apply the log of a removed database to the restored one.
  const graph = graphIn(dataDir, 'sqlite');
  if (![graph, `${graph}-wal`, `${graph}-shm`].some((file) => existsSync(file))) return;
  throw new SvcError(
    'conflict',
    `The platform in "${dir}" has data, and this version restores into an empty one only.`,
    {
      hint: 'Make one, and restore there: svc init DIR, then svc restore FILE --dir DIR',
    },
  );
}

/** The key to put in the place of the installation's own; null where that is the right one. */
function keyFor({ installation, file, encryptionKeyFile }: RestoreOptions, { head }: ArchiveContent): string | null {
  const own = secretFilesOf(installation).encryptionKey;
  if (encryptionKeyFile === null) {
    if (hasSecret(own) && fingerprintOf(own) === head.encryptionKey) return null;
    throw new SvcError(
      'forbidden',
      `The secrets in "${file}" are encrypted with another key than secrets/encryption.key of this installation (fingerprint ${head.encryptionKey}).`,
      { hint: 'Name the key of the platform that was backed up: --encryption-key-file secrets/encryption.key' },
    );
  }
  const key = readKey(encryptionKeyFile);
  if (fingerprintOfText(key) === head.encryptionKey) return key;
  throw new SvcError(
    'forbidden',
    `"${encryptionKeyFile}" is not the key that the secrets in "${file}" are encrypted with (fingerprint ${head.encryptionKey}).`,
    { hint: 'Name the secrets/encryption.key of the platform that was backed up.' },
  );
}

/** Reads the file once: it may be a pipe, such as <(pass show key). */
function readKey(file: string): string {
  try {
    return readSecret(file);
  } catch (thrown) {
    throw new SvcError('invalid_input', `"${file}" can't be read: ${inWords(thrown)}`, { cause: thrown });
  }
}

/** Measured: with its indexes, a record takes less than this in SQLite. */
const bytesOfRecord = 2048;

function refuseWithoutRoom({ dataDir }: Installation, { graph, files }: ArchiveContent): void {
  const neededBytes = (graph[0]?.count ?? 0) * bytesOfRecord + files.bytes;
  const freeBytes = bytesLeft(statfsSync(dataDir), process.getuid?.() === 0);
  if (freeBytes === null || freeBytes >= neededBytes) return;
  throw new SvcError(
    'unavailable',
    `"${dataDir}" has ${sizeText(freeBytes)} left, and what is restored needs about ${sizeText(neededBytes)}.`,
    { hint: `Free some space and try again: df -h "${dataDir}" tells how much there is.` },
  );
}

function draftIn({ dataDir }: Installation): string {
  return join(dataDir, 'restoring');
}
