import { hash } from 'node:crypto';
import { openSync } from 'node:fs';
import { carryContent, type KindOfContent, readContent } from '../../services/backend/graph/content.ts';
import type { Digest } from '../../services/contracts/digest.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { ArchiveFile } from './archive.ts';
import type { ArchiveHead } from './archive-format.ts';
import { type CarriedBus, carryBus, readBus, verifyBus } from './carry-bus.ts';
import type { Kinds } from './place.ts';
import { ArchiveReader } from './read-archive.ts';
import type { Store } from './store.ts';
import { ArchiveWriter } from './write-archive.ts';

/** Counts and digests of everything in an archive. */
export interface ArchivedContent {
  readonly graph: readonly KindOfContent[];
  readonly bus: CarriedBus;
  readonly files: ReadonlySet<Digest>;
}

/** Writes the whole content of a stopped platform into a new archive, and reads the archive again. */
export async function archiveStore(
  store: Store,
  { file, head, signal }: { readonly file: string; readonly head: ArchiveHead; readonly signal: AbortSignal },
): Promise<ArchivedContent> {
  const writer = new ArchiveWriter(openSync(file, 'wx', 0o600), head);
  try {
    const bus = store.bus === null ? null : await carryBus(store.bus, writer.bus);
    const graph = store.graph === null ? null : await carryContent(store.graph, writer.graph, signal);
    const files = new Set<Digest>();
    for await (const digest of store.blobs?.list() ?? []) {
      signal.throwIfAborted();
      const blob = await store.blobs?.find(digest);
      if (store.blobs === null || blob === null || blob === undefined) throw differs('files');
      await writer.addFile(blob, await store.blobs.read(digest));
      files.add(digest);
    }
    await writer.finish();
    const read = await readArchive({ file, passphrase: null }, signal);
    if (graph !== null) refuseDifferentGraph(graph, read.graph);
    if (bus !== null && !isSameBus(bus, read.bus)) throw differs('bus');
    if (files.symmetricDifference(read.files).size > 0) throw differs('files');
    return read;
  } finally {
    await writer.close();
  }
}

/** Reads a whole archive. */
export async function readArchive(file: ArchiveFile, signal: AbortSignal): Promise<ArchivedContent> {
  return await fillStore(file, { bus: null, graph: null, blobs: null }, signal);
}

/** Fills the content that is given with what the archive has of it, which must be empty. Returns what the archive has. */
export async function fillStore(
  { file, passphrase }: ArchiveFile,
  store: Store,
  signal: AbortSignal,
): Promise<ArchivedContent> {
  await using reader = await ArchiveReader.open(file, passphrase);
  // The secrets of an encrypted archive come first.
  await reader.secrets();
  const bus = store.bus === null ? await readBus(reader) : await carryBus(reader, store.bus);
  const graph =
    store.graph === null ? await readContent(reader, signal) : await carryContent(reader, store.graph, signal);
  const files = new Set<Digest>();
  for await (const { blob, bytes } of reader.files()) {
    signal.throwIfAborted();
    if (store.blobs === null) await drain(bytes);
    else await store.blobs.put(blob, bytes);
    files.add(blob.digest);
  }
  await reader.finish();
  return { graph, bus, files };
}

/** Compares content that was filled with its archive. Returns counts and digests of the whole content. */
export async function verifyStore(
  store: Store,
  { graph, bus, files }: ArchivedContent,
  signal: AbortSignal,
): Promise<readonly KindOfContent[]> {
  if (store.graph !== null) refuseDifferentGraph(graph, await readContent(store.graph, signal));
  const kept = store.bus === null ? [] : await verifyBus(bus, store.bus);
  if (store.blobs !== null) await refuseMissingFiles(store.blobs, files);
  return [...graph, ...kept, ...kindOfFiles(files)];
}

/** An external bus may hold more files. */
async function refuseMissingFiles(blobs: NonNullable<Store['blobs']>, files: ReadonlySet<Digest>): Promise<void> {
  const found = new Set<Digest>();
  for await (const digest of blobs.list()) found.add(digest);
  if (!files.isSubsetOf(found)) throw differs('files');
}

function kindOfFiles(files: ReadonlySet<Digest>): readonly KindOfContent[] {
  const digest = hash('sha256', [...files].map((one) => `${one}\n`).join(''));
  return files.size === 0 ? [] : [{ kind: 'files', count: files.size, digest }];
}

/** The kinds of content that a store has opened. */
export function kindsOf({ bus, graph, blobs }: Store): Kinds {
  return { bus: bus !== null, graph: graph !== null, blobs: blobs !== null };
}

function refuseDifferentGraph(expected: readonly KindOfContent[], found: readonly KindOfContent[]): void {
  const text = (kinds: readonly KindOfContent[]) => kinds.map((kind) => JSON.stringify(kind));
  const differing = new Set(text(expected)).symmetricDifference(new Set(text(found)));
  if (differing.size > 0) throw differs(`graph (${[...differing].join(', ')})`);
}

function isSameBus(one: CarriedBus, other: CarriedBus): boolean {
  const keys = (bus: CarriedBus) => new Set(bus.keys.keys());
  return one.usage.digest === other.usage.digest && keys(one).symmetricDifference(keys(other)).size === 0;
}

function differs(what: string): SvcError {
  return new SvcError('internal', `The ${what} that was written differs from what it was written from.`);
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items);
}
