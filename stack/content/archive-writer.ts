import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';
import type { Blob } from '../../services/backend/files/content.ts';
import type { EdgeRecord, GraphContent, NodeRecord } from '../../services/backend/graph/content.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import type { KeptEntry, KeptRecord } from '../../services/kit/bus/content.ts';
import { type ArchivedSecret, type ArchiveHead, pieceBytes, sections } from './archive-format.ts';
import type { BusTarget } from './carry-bus.ts';
import { encrypting } from './encrypt-archive.ts';

type GraphTarget = Pick<GraphContent, 'addNodes' | 'addEdges' | 'finish'>;

const chunkChars = 64 * 1024;
/** The fastest level: records repeat so much that it compresses them well. */
const level = 1;

/** Writes an archive into a file: secrets first, then a bus, a graph and files. The archive is on the disk once `end` resolves. */
export class ArchiveWriter implements BusTarget, GraphTarget, AsyncDisposable {
  readonly #gzip: Gzip;
  readonly #written: Promise<void>;
  readonly #hash = createHash('sha256');
  readonly #rows: Record<string, number> = {};
  #pending = '';

  /** Takes over a file that is open for writing. */
  constructor(file: FileHandle, head: ArchiveHead, passphrase: Secret | null = null) {
    this.#gzip = createGzip({ level });
    const target = file.createWriteStream({ flush: true });
    this.#written =
      passphrase === null ? pipeline(this.#gzip, target) : pipeline(this.#gzip, encrypting(passphrase), target);
    // The failure is met where the next line is written.
    this.#written.catch(() => undefined);
    this.#add(head);
  }

  async addSecrets(secrets: ReadonlyMap<ArchivedSecret, Secret>): Promise<void> {
    const section = this.#begin(sections.secrets);
    for (const [name, secret] of secrets) await this.#row(section, [name, secret.reveal()]);
  }

  async addRecords(_stream: string, records: AsyncIterable<KeptRecord>): Promise<void> {
    const section = this.#begin(sections.usage);
    for await (const { payload } of records) await this.#row(section, [base64(payload)]);
  }

  async addEntries(_bucket: string, entries: AsyncIterable<KeptEntry>): Promise<void> {
    const section = this.#begin(sections.sessions);
    for await (const { key, value, expiresAt } of entries) await this.#row(section, [key, base64(value), expiresAt]);
  }

  async addNodes(nodes: AsyncIterable<NodeRecord>): Promise<void> {
    for await (const { type, id, version, workspace, values } of nodes) {
      await this.#row(sections.nodes(type), [id, version, workspace, values]);
    }
  }

  async addEdges(from: string, edge: string, edges: AsyncIterable<EdgeRecord>): Promise<void> {
    for await (const { source, target } of edges) await this.#row(sections.edges(from, edge), [source, target]);
  }

  async addFile({ digest, sizeBytes }: Blob, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#row(sections.files, [digest, sizeBytes]);
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
        this.#add([Buffer.from(chunk.subarray(at, at + pieceBytes)).toString('base64')]);
        await this.#flow();
      }
    }
  }

  /** The graph is complete, and the archive goes on with the files. */
  async finish(): Promise<void> {}

  async end(): Promise<void> {
    await this.#flush();
    this.#add({ end: { rows: this.#rows, sha256: this.#hash.copy().digest('hex') } });
    await this.#flush();
    this.#gzip.end();
    await this.#written;
  }

  /** Closes the file; without `end` before, the archive stays incomplete. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#gzip.destroy();
    await this.#written.catch(() => undefined);
  }

  #begin(section: string): string {
    this.#rows[section] = 0;
    this.#add({ section });
    return section;
  }

  /** The first row begins its section, if it was not begun without rows. */
  async #row(section: string, row: readonly unknown[]): Promise<void> {
    if (this.#rows[section] === undefined) this.#begin(section);
    this.#rows[section] = (this.#rows[section] ?? 0) + 1;
    this.#add(row);
    await this.#flow();
  }

  #add(line: unknown): void {
    this.#pending += `${JSON.stringify(line)}\n`;
  }

  #flow(): Promise<void> | undefined {
    return this.#pending.length < chunkChars ? undefined : this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    this.#hash.update(bytes);
    await Promise.race([this.#written, new Promise<void>((resolve) => this.#gzip.write(bytes, () => resolve()))]);
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
