import { existsSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Blobs } from '../../../services/backend/files/content.ts';
import { openBlobsContent } from '../../../services/backend/files/open-content.ts';
import { carryContent, type GraphContent, type KindOfContent } from '../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { parseDigest } from '../../../services/contracts/digest.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, checkArchive } from '../../content/archive.ts';
import { formatVersion } from '../../content/archive-format.ts';
import { ArchiveWriter } from '../../content/write-archive.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { sizeText } from '../../machine/size-text.ts';
import { fingerprintOf, secretFilesOf } from '../../secrets/secrets.ts';
import { blobsIn, graphIn } from '../../state/data-files.ts';
import { isCode, syncFolder } from '../../state/durable-file.ts';
import { refuseCopy } from '../../state/find-original.ts';
import { bytesLeft } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { ensurePrivateFolder } from '../../state/private-folder.ts';
import { refuseOtherArrangements } from './arrangements.ts';

export interface BackupOptions {
  readonly installation: Installation;
  /** The archive, which must not be there. */
  readonly file: string;
  /** Version of the platform. */
  readonly version: string;
  readonly signal: AbortSignal;
}

export interface Backup extends ArchiveContent {
  readonly sizeBytes: number;
}

/**
 * Writes the records and files of one moment into an archive, also while the platform runs. The archive gets its name after it was read again.
 */
export async function backup(options: BackupOptions): Promise<Backup> {
  const { installation, file, signal } = options;
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  const draft = `${file}.part`;
  try {
    refuseCopy(installation);
    refuseOtherArrangements(installation, 'A backup');
    refuseExisting(file);
    refuseWithoutData(installation);
    refuseWithoutRoom(options);
    const fd = openDraft(draft);
    try {
      const written = await writeArchive(options, fd);
      const read = await checkArchive(draft, signal);
      if (JSON.stringify(read.graph) !== JSON.stringify(written)) {
        throw new SvcError('internal', 'The archive differs from the graph.');
      }
      renameSync(draft, file);
      syncFolder(dirname(file));
      return { ...read, sizeBytes: statSync(file).size };
    } catch (thrown) {
      throw isCode(thrown, 'ENOSPC') ? cannotWrite(draft, thrown) : thrown;
    } finally {
      rmSync(draft, { force: true });
    }
  } finally {
    lock.release();
  }
}

/** Only a file that this backup has made is removed again. */
function openDraft(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (thrown) {
    throw isCode(thrown, 'EEXIST') ? existing(draft) : cannotWrite(draft, thrown);
  }
}

function cannotWrite(file: string, cause: unknown): SvcError {
  return new SvcError('unavailable', `"${file}" can't be written: ${inWords(cause)}.`, {
    hint: 'Name a file in another folder: svc backup FILE',
    cause,
  });
}

async function writeArchive(
  { installation, version, signal }: BackupOptions,
  fd: number,
): Promise<readonly KindOfContent[]> {
  const { dataDir } = installation;
  const graph = await openGraphContent({ engine: 'sqlite', file: graphIn(dataDir, 'sqlite'), readOnly: true });
  const writer = new ArchiveWriter(fd, {
    svc: 'backup',
    format: formatVersion,
    version,
    createdAt: new Date().toISOString(),
    encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey),
  });
  try {
    const kinds = await carryContent(graph, writer.graph, signal);
    await using opened = await openBlobsContent({ engine: 'folder', dir: blobsIn(dataDir) });
    await writeFiles({ graph, blobs: opened.blobs, writer }, signal);
    await writer.finish();
    return kinds;
  } finally {
    await writer.close();
    await graph.close();
  }
}

/** Writes each file once. The backend keeps the bytes of a removed file for ten minutes, so those of the graph's moment exist. */
async function writeFiles(
  { graph, blobs, writer }: { readonly graph: GraphContent; readonly blobs: Blobs; readonly writer: ArchiveWriter },
  signal: AbortSignal,
): Promise<void> {
  const written = new Set<string>();
  for await (const { values } of graph.nodes('file')) {
    signal.throwIfAborted();
    const digest = parseDigest(String(values.digest));
    if (written.has(digest)) continue;
    written.add(digest);
    const blob = await blobs.find(digest);
    if (blob === null) {
      throw new SvcError(
        'unavailable',
        `The file "${values.path}" of a skill is recorded, and its bytes are missing.`,
        {
          hint: 'If somebody removed a skill while the backup ran, run it again. Otherwise data/blobs is incomplete.',
        },
      );
    }
    await writer.addFile(blob, await blobs.read(digest));
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw existing(file);
}

function existing(file: string): SvcError {
  return new SvcError('conflict', `"${file}" is there already, and a backup replaces nothing.`, {
    hint: 'Name another file, or remove that one.',
  });
}

function refuseWithoutData({ dir, dataDir }: Installation): void {
  if (existsSync(graphIn(dataDir, 'sqlite'))) return;
  throw new SvcError('not_found', `The platform in "${dir}" has no data yet.`, { hint: 'Start it once: svc up' });
}

/** Asks for the size of the data: the compressed archive takes less. */
function refuseWithoutRoom({ installation: { dataDir }, file }: BackupOptions): void {
  const folder = dirname(file);
  if (!existsSync(folder)) throw new SvcError('not_found', `There is no folder "${folder}".`);
  const graph = graphIn(dataDir, 'sqlite');
  const neededBytes = sizeOf(graph) + sizeOf(`${graph}-wal`) + sizeOf(blobsIn(dataDir));
  const freeBytes = bytesLeft(statfsSync(folder), process.getuid?.() === 0);
  if (freeBytes === null || freeBytes >= neededBytes) return;
  throw new SvcError(
    'unavailable',
    `"${folder}" has ${sizeText(freeBytes)} left, and a backup may need ${sizeText(neededBytes)}.`,
    { hint: 'Name a file on another disk, or free some space.' },
  );
}
