import { type KindOfContent, readContent } from '../../services/backend/graph/content.ts';
import type { ArchiveHead } from './archive-format.ts';
import { ArchiveReader } from './read-archive.ts';

/** Counts and digests of an archive. */
export interface ArchiveContent {
  readonly head: ArchiveHead;
  readonly graph: readonly KindOfContent[];
  readonly files: { readonly count: number; readonly bytes: number };
}

/** Reads a whole archive. Throws if the archive is cut, changed or of a newer format. */
export async function checkArchive(file: string, signal: AbortSignal): Promise<ArchiveContent> {
  await using reader = await ArchiveReader.open(file);
  const graph = await readContent(reader, signal);
  const files = { count: 0, bytes: 0 };
  for await (const { blob, bytes } of reader.files()) {
    signal.throwIfAborted();
    for await (const _piece of bytes);
    files.count += 1;
    files.bytes += blob.sizeBytes;
  }
  await reader.finish();
  return { head: reader.head, graph, files };
}
