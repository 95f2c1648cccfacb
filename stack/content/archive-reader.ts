import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import type { Blob } from '../../services/backend/files/content.ts';
import {
  checkEdgeRecord,
  checkRecord,
  type EdgeRecord,
  type GraphContent,
  type NodeRecord,
  type TypeName,
  valuesSince,
} from '../../services/backend/graph/content.ts';
import { findDigest } from '../../services/contracts/digest.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { checkKeptEntry, checkKeptRecord, type KeptEntry, type KeptRecord } from '../../services/kit/bus/content.ts';
import { parseJson } from '../machine/parse-json.ts';
import {
  type ArchivedSecret,
  type ArchiveHead,
  damaged,
  endSchema,
  formatVersion,
  headSchema,
  lineBytesMax,
  noArchive,
  rows,
  sectionSchema,
  sections,
  sessionsMax,
  toArchiveError,
} from './archive-format.ts';
import type { BusSource } from './carry-bus.ts';
import { decrypting, isEncrypted } from './encrypt-archive.ts';

/** Reads an archive once, section by section. Only `finish` proves that the archive is complete and unchanged. */
export class ArchiveReader implements BusSource, Pick<GraphContent, 'nodes' | 'edges'>, AsyncDisposable {
  readonly head: ArchiveHead;
  readonly #file: string;
  readonly #lines: AsyncGenerator<Line, void>;
  readonly #rows: Record<string, number> = {};
  #next: Line | null = null;

  private constructor(file: string, lines: AsyncGenerator<Line, void>, head: ArchiveHead) {
    this.#file = file;
    this.#lines = lines;
    this.head = head;
  }

  /** Throws `unsupported` for a newer format, `invalid_input` for a file that is no archive, and `forbidden` for a wrong passphrase. */
  static async open(file: string, passphrase: Secret | null = null): Promise<ArchiveReader> {
    // A pipe may never end, and a restore reads the archive twice.
    const found = await stat(file).catch(() => null);
    if (found !== null && !found.isFile()) throw noArchive(file);
    const lines = linesOf(file, passphrase);
    try {
      const first = await lines.next();
      const head = headSchema.safeParse(first.value?.value);
      if (!head.success) throw noArchive(file);
      const { format } = head.data;
      if (format > formatVersion) {
        throw new SvcError(
          'unsupported',
          `"${file}" has the format ${format}, and this version of the platform reads formats up to ${formatVersion}.`,
          { hint: 'Use the version of the platform that wrote it, or a newer one.' },
        );
      }
      const reader = new ArchiveReader(file, lines, head.data);
      await reader.#advance();
      return reader;
    } catch (thrown) {
      await lines.return();
      throw thrown;
    }
  }

  async secrets(): Promise<ReadonlyMap<ArchivedSecret, Secret>> {
    const secrets = new Map<ArchivedSecret, Secret>();
    for await (const [name, text] of this.#section(sections.secrets, rows.secret)) secrets.set(name, new Secret(text));
    return secrets;
  }

  async *records(): AsyncGenerator<KeptRecord, void> {
    for await (const [payload] of this.#section(sections.usage, rows.usage)) {
      yield this.#checked(() => checkKeptRecord({ payload: Buffer.from(payload, 'base64') }));
    }
  }

  async *entries(): AsyncGenerator<KeptEntry, void> {
    let count = 0;
    for await (const [key, value, expiresAt] of this.#section(sections.sessions, rows.session)) {
      count += 1;
      if (count > sessionsMax) throw damaged(this.#file, 'changed');
      yield this.#checked(() => checkKeptEntry({ key, value: Buffer.from(value, 'base64'), expiresAt }));
    }
  }

  async *nodes(type: TypeName): AsyncGenerator<NodeRecord, void> {
    for await (const [id, version, workspace, values] of this.#section(sections.nodes(type), rows.node)) {
      const known = this.head.format < formatVersion ? valuesSince(type, values) : values;
      yield this.#checked(() => checkRecord(type, { id, version, workspace, values: known }));
    }
  }

  async *edges(from: TypeName, edge: string): AsyncGenerator<EdgeRecord, void> {
    for await (const [source, target] of this.#section(sections.edges(from, edge), rows.edge)) {
      yield this.#checked(() => checkEdgeRecord(from, edge, { source, target }));
    }
  }

  /** The bytes of a file must be read to their end before the next file. */
  async *files() {
    for await (const [name, sizeBytes] of this.#section(sections.files, rows.file)) {
      const digest = findDigest(name);
      if (digest === null) throw damaged(this.#file, 'changed');
      const blob = { digest, sizeBytes };
      yield { blob, bytes: this.#bytesOf(blob) };
    }
  }

  /** Throws if rows are missing, changed or left unread. */
  async finish(): Promise<void> {
    const last = this.#next;
    const end = endSchema.safeParse(last?.value);
    if (last === null) throw damaged(this.#file, 'cut');
    if (!end.success || end.data.end.sha256 !== last.sha256Before()) throw damaged(this.#file, 'changed');
    const written = end.data.end.rows;
    const names = new Set([...Object.keys(written), ...Object.keys(this.#rows)]);
    if ([...names].some((name) => written[name] !== this.#rows[name])) throw damaged(this.#file, 'changed');
    await this.#advance();
    if (this.#next !== null) throw damaged(this.#file, 'changed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return();
  }

  /** Yields the rows of the section, or none if the archive goes on with another section. */
  async *#section<Row>(name: string, shape: z.ZodType<Row>): AsyncGenerator<Row, void> {
    const begun = sectionSchema.safeParse(this.#next?.value);
    if (!begun.success || begun.data.section !== name) return;
    this.#rows[name] = 0;
    await this.#advance();
    for (let row = this.#take(shape); row !== null; row = this.#take(shape)) {
      this.#rows[name] = (this.#rows[name] ?? 0) + 1;
      await this.#advance();
      yield row;
    }
  }

  /** Throws if the bytes do not match the digest. */
  async *#bytesOf({ digest, sizeBytes }: Blob): AsyncGenerator<Uint8Array, void> {
    const hash = createHash('sha256');
    let read = 0;
    for (let row = this.#take(rows.piece); row !== null; row = this.#take(rows.piece)) {
      await this.#advance();
      const piece = Buffer.from(row[0], 'base64');
      read += piece.byteLength;
      if (read > sizeBytes) throw damaged(this.#file, 'changed');
      hash.update(piece);
      yield piece;
    }
    if (read < sizeBytes || hash.digest('hex') !== digest) throw damaged(this.#file, 'changed');
  }

  /** The row that is next, or null where the section is over. */
  #take<Row>(shape: z.ZodType<Row>): Row | null {
    const row = shape.safeParse(this.#next?.value);
    return row.success ? row.data : null;
  }

  #checked<Result>(check: () => Result): Result {
    try {
      return check();
    } catch (thrown) {
      throw damaged(this.#file, 'changed', thrown);
    }
  }

  async #advance(): Promise<void> {
    const { value } = await this.#lines.next();
    this.#next = value ?? null;
  }
}

const newline = 0x0a;

interface Line {
  readonly value: unknown;
  /** Of every byte before this line. */
  readonly sha256Before: () => string;
}

async function* linesOf(file: string, passphrase: Secret | null): AsyncGenerator<Line, void> {
  const hash = createHash('sha256');
  const source = createReadStream(file);
  const plain = createGunzip();
  const reading = isEncrypted(file) ? pipeline(source, decrypting(file, passphrase), plain) : pipeline(source, plain);
  // The failure is met where the next line is read.
  reading.catch(() => undefined);
  let isBegun = false;
  /** Of a line that is not over. */
  let begun: Buffer[] = [];
  let begunBytes = 0;
  try {
    for await (const chunk of plain) {
      let from = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
        const bytes = Buffer.concat([...begun, chunk.subarray(from, end + 1)]);
        begun = [];
        begunBytes = 0;
        const value = parseJson(bytes.toString('utf8'));
        if (value === null) throw isBegun ? damaged(file, 'changed') : noArchive(file);
        yield { value, sha256Before: () => hash.copy().digest('hex') };
        isBegun = true;
        hash.update(bytes);
        from = end + 1;
      }
      begun.push(chunk.subarray(from));
      begunBytes += chunk.byteLength - from;
      if (begunBytes > lineBytesMax) throw isBegun ? damaged(file, 'changed') : noArchive(file);
    }
    if (begunBytes > 0) throw isBegun ? damaged(file, 'cut') : noArchive(file);
  } catch (thrown) {
    throw toArchiveError(thrown, isBegun, file);
  } finally {
    source.destroy();
    plain.destroy();
  }
}
