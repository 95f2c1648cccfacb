import {
  carryContent,
  type GraphContent,
  type KindOfContent,
  readContent,
} from '../../services/backend/graph/content.ts';
import { parseDigest } from '../../services/contracts/digest.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import type { ArchivedSecret, ArchiveHead } from './archive-format.ts';
import { type CarriedBus, carryBus, readBus } from './carry-bus.ts';
import { ArchiveReader } from './read-archive.ts';
import type { Store } from './store.ts';
import type { ArchiveWriter } from './write-archive.ts';

export interface ArchiveFile {
  readonly file: string;
  /** Null: the archive is not encrypted. */
  readonly passphrase: Secret | null;
}

/** Secrets, counts and digests of an archive. */
export interface ArchiveContent {
  readonly head: ArchiveHead;
  readonly secrets: ReadonlyMap<ArchivedSecret, Secret>;
  readonly usage: number;
  readonly sessions: number;
  readonly graph: readonly KindOfContent[];
  readonly files: { readonly count: number; readonly bytes: number };
}

/**
 * Writes all that the stores hold. The bus comes first: usage that is added up between the two reads is then in the graph as well, and the backend
 * passes over what it has added up before.
 */
export async function writeArchive(
  { bus, graph, blobs }: Store & { readonly graph: GraphContent },
  writer: ArchiveWriter,
  signal: AbortSignal,
): Promise<readonly KindOfContent[]> {
  if (bus !== null) await carryBus(bus, writer.bus);
  const kinds = await carryContent(graph, writer.graph, signal);
  const written = new Set<string>();
  for await (const { values } of graph.nodes('file')) {
    signal.throwIfAborted();
    const digest = parseDigest(String(values.digest));
    if (written.has(digest)) continue;
    written.add(digest);
    const blob = (await blobs?.find(digest)) ?? null;
    if (blob === null || blobs === null) throw missingBytes(String(values.path));
    await writer.addFile(blob, await blobs.read(digest));
  }
  await writer.finish();
  return kinds;
}

/** Reads a whole archive. Throws if the archive is cut, changed or of a newer format. */
export async function checkArchive({ file, passphrase }: ArchiveFile, signal: AbortSignal): Promise<ArchiveContent> {
  await using reader = await ArchiveReader.open(file, passphrase);
  const secrets = await reader.secrets();
  const bus: CarriedBus = await readBus(reader);
  const graph = await readContent(reader, signal);
  const files = { count: 0, bytes: 0 };
  for await (const { blob, bytes } of reader.files()) {
    signal.throwIfAborted();
    for await (const _piece of bytes);
    files.count += 1;
    files.bytes += blob.sizeBytes;
  }
  await reader.finish();
  return { head: reader.head, secrets, usage: bus.usage.count, sessions: bus.keys.size, graph, files };
}

/** The backend keeps the bytes of a removed file for ten minutes, so those of the graph's moment exist. */
function missingBytes(path: string): SvcError {
  return new SvcError('unavailable', `The file "${path}" of a skill is recorded, and its bytes are missing.`, {
    hint: 'If somebody removed a skill while the backup ran, run it again. Otherwise data/blobs is incomplete.',
  });
}
