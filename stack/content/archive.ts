import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { carryContent, type KindOfContent, readContent } from '../../services/backend/graph/content.ts';
import { type Digest, parseDigest } from '../../services/contracts/digest.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import type { Plan } from '../plan/plan.ts';
import { fingerprintOf } from '../secrets/secrets.ts';
import { type ArchivedSecret, type ArchiveHead, formatVersion } from './archive-format.ts';
import { ArchiveReader } from './archive-reader.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { type CarriedBus, carryBus, drain, readBus, verifyBus } from './carry-bus.ts';
import type { Store } from './store.ts';

export interface ArchiveFile {
  readonly file: string;
  /** Null: the archive is not encrypted. */
  readonly passphrase: Secret | null;
}

/** Counts and digests of everything in an archive, and its secrets. */
export interface ArchiveContent {
  readonly head: ArchiveHead;
  readonly secrets: ReadonlyMap<ArchivedSecret, Secret>;
  readonly bus: CarriedBus;
  readonly graph: readonly KindOfContent[];
  readonly files: ReadonlySet<Digest>;
  readonly fileBytes: number;
}

/** How much of each kind an archive has, beside its graph. */
export function countsIn({ bus, files, fileBytes }: ArchiveContent) {
  return { usage: bus.usage.count, sessions: bus.keys.size, files: { count: files.size, bytes: fileBytes } };
}

export interface NewArchive extends ArchiveFile, Pick<ArchiveHead, 'createdAt' | 'bus'> {
  /** Of the platform whose content it is. */
  readonly plan: Plan;
  /** Open for writing, without content. */
  readonly handle: FileHandle;
  /** Only an encrypted archive has secrets. */
  readonly secrets: ArchiveContent['secrets'] | null;
  readonly signal: AbortSignal;
}

/**
 * Writes the content of a store into an archive, reads the archive again and compares. The bus comes first: usage that is added up between the two
 * reads is then in the graph as well, and the backend passes over what it has added up before.
 */
export async function writeArchive(store: Store, archive: NewArchive): Promise<ArchiveContent> {
  const { plan, createdAt, handle, secrets, passphrase, signal } = archive;
  const encryptionKey = fingerprintOf(plan.secrets.encryptionKey);
  const head = { svc: 'backup', format: formatVersion, version: plan.version, createdAt, encryptionKey } as const;
  await using writer = new ArchiveWriter(handle, { ...head, bus: archive.bus }, passphrase);
  if (secrets !== null) await writer.addSecrets(secrets);
  const bus = store.bus === null ? null : await carryBus(store.bus, writer);
  const graph = store.graph === null ? null : await carryContent(store.graph, writer, signal);
  const files = await writeFiles(store, writer, signal);
  await writer.end();
  const read = await readArchive(archive, signal);
  if (graph !== null) refuseDifferentGraph(graph, read.graph);
  if (bus !== null && !isSameBus(bus, read.bus)) throw differs('bus');
  if (files.symmetricDifference(read.files).size > 0) throw differs('files');
  return read;
}

/** Of a running platform, a file that goes meanwhile was removed before. The backend keeps what the graph named for ten minutes. */
async function writeFiles(
  { graph, blobs }: Store,
  writer: ArchiveWriter,
  signal: AbortSignal,
): Promise<ReadonlySet<Digest>> {
  const files = new Set<Digest>();
  for await (const digest of blobs?.list() ?? []) {
    signal.throwIfAborted();
    const blob = await blobs?.find(digest);
    if (blobs === null || blob === null || blob === undefined) continue;
    await writer.addFile(blob, await blobs.read(digest));
    files.add(digest);
  }
  for await (const { values } of graph?.nodes('file') ?? []) {
    if (files.has(parseDigest(String(values.digest)))) continue;
    throw new SvcError('unavailable', `The file "${values.path}" of a skill is recorded, and its bytes are missing.`, {
      hint: 'If a skill was removed meanwhile, run the command again. Otherwise data/blobs is incomplete.',
    });
  }
  return files;
}

/** Reads a whole archive. Throws if the archive is cut, changed or of a newer format. */
export async function readArchive(archive: ArchiveFile, signal: AbortSignal): Promise<ArchiveContent> {
  return await fillStore(archive, { bus: null, graph: null, blobs: null }, signal);
}

/** Fills a store, which must be empty, with what the archive has of its kinds. Reads the whole archive. */
export async function fillStore(
  { file, passphrase }: ArchiveFile,
  store: Store,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  await using reader = await ArchiveReader.open(file, passphrase);
  const secrets = await reader.secrets();
  const bus = store.bus === null ? await readBus(reader) : await carryBus(reader, store.bus);
  const graph =
    store.graph === null ? await readContent(reader, signal) : await carryContent(reader, store.graph, signal);
  const files = new Set<Digest>();
  let fileBytes = 0;
  for await (const { blob, bytes } of reader.files()) {
    signal.throwIfAborted();
    if (store.blobs === null) await drain(bytes);
    else await store.blobs.put(blob, bytes);
    files.add(blob.digest);
    fileBytes += blob.sizeBytes;
  }
  await reader.finish();
  return { head: reader.head, secrets, bus, graph, files, fileBytes };
}

/** Compares a store that was filled with its archive. Returns counts and digests of the whole content. */
export async function verifyStore(
  store: Store,
  { graph, bus, files }: ArchiveContent,
  signal: AbortSignal,
): Promise<readonly KindOfContent[]> {
  if (store.graph !== null) refuseDifferentGraph(graph, await readContent(store.graph, signal));
  const kept = store.bus === null ? [] : await verifyBus(bus, store.bus);
  if (store.blobs !== null) {
    const found = new Set<Digest>();
    for await (const digest of store.blobs.list()) found.add(digest);
    // An external bus may hold more files.
    if (!files.isSubsetOf(found)) throw differs('files');
  }
  const digest = hash('sha256', [...files].map((one) => `${one}\n`).join(''));
  return [...graph, ...kept, ...(files.size === 0 ? [] : [{ kind: 'files', count: files.size, digest }])];
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
  return new SvcError('internal', `The written ${what} differs from its source.`);
}
