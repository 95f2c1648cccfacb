import type { Dir } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Digest, findDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { randomText } from '../../contracts/ids.ts';
import { inWords } from '../../contracts/system-words.ts';
import type { Blob, Blobs, Range } from './blobs.ts';
import { checkedBytes, checkRange, noSuchBlob, readThrough } from './check-bytes.ts';

const draftsName = 'drafts';
const privateFolder = 0o700;
const privateFile = 0o600;

/**
 * Blobs as files: `ab/ab12…`, in folders of the digest's first two digits. A file is written in `drafts` and gets its
 * final name once all of it is on disk.
 */
export class FolderBlobs implements Blobs {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async open(dir: string): Promise<FolderBlobs> {
    return await said(dir, async () => {
      await mkdir(join(dir, draftsName), { recursive: true, mode: privateFolder });
      return new FolderBlobs(dir);
    });
  }

  async put(blob: Blob, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const checked = checkedBytes(blob, bytes);
    const isThere = (await this.find(blob.digest)) !== null;
    await said(this.#dir, async () => {
      if (isThere) await readThrough(checked);
      else await this.#write(blob.digest, checked);
      // Synced also if another put has just created the file: it is durable only once its folder is synced.
      await sync(this.#shelf(blob.digest));
      await sync(this.#dir);
    });
  }

  async find(digest: Digest): Promise<Blob | null> {
    return await said(this.#dir, async () => {
      const found = await stat(this.#path(digest)).catch(absent);
      return found === null ? null : { digest, sizeBytes: found.size };
    });
  }

  async read(digest: Digest, range?: Range): Promise<Readable> {
    return await said(this.#dir, async () => {
      const file = await open(this.#path(digest)).catch(absent);
      if (file === null) throw noSuchBlob(digest);
      try {
        const { size } = await file.stat();
        const { start, end } = range ?? { start: 0, end: size };
        checkRange({ start, end }, size);
        // Node's `end` is the last byte, so an empty range has none.
        if (start < end) return file.createReadStream({ start, end: end - 1 });
        await file.close();
        return Readable.from([]);
      } catch (thrown) {
        await file.close();
        throw thrown;
      }
    });
  }

  async remove(digest: Digest): Promise<void> {
    await said(this.#dir, () => rm(this.#path(digest), { force: true }));
  }

  async *list(): AsyncGenerator<Digest, void, undefined> {
    for (const name of await namesIn(this.#dir)) {
      if (!/^[0-9a-f]{2}$/.test(name)) continue;
      for (const file of await namesIn(join(this.#dir, name))) {
        const digest = findDigest(file);
        if (digest !== null) yield digest;
      }
    }
  }

  async removeUnfinished(before: number): Promise<void> {
    const drafts = join(this.#dir, draftsName);
    await said(this.#dir, async () => {
      for (const name of await namesIn(drafts)) {
        const found = await stat(join(drafts, name)).catch(absent);
        if (found !== null && found.mtimeMs < before) await rm(join(drafts, name), { force: true });
      }
    });
  }

  async #write(digest: Digest, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const draft = join(this.#dir, draftsName, randomText(20));
    try {
      await write(draft, bytes);
      await mkdir(this.#shelf(digest), { recursive: true, mode: privateFolder });
      await rename(draft, this.#path(digest));
    } catch (thrown) {
      await rm(draft, { force: true });
      throw thrown;
    }
  }

  #shelf(digest: Digest): string {
    return join(this.#dir, digest.slice(0, 2));
  }

  #path(digest: Digest): string {
    return join(this.#shelf(digest), digest);
  }
}

async function write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', privateFile);
  try {
    for await (const chunk of bytes) await writeAll(file, chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    written += (await file.write(chunk, written)).bytesWritten;
  }
}

async function sync(dir: string): Promise<void> {
  const folder = await open(dir);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Sorted; empty when the folder does not exist. */
async function namesIn(dir: string): Promise<readonly string[]> {
  const found: Dir | null = await opendir(dir).catch(absent);
  if (found === null) return [];
  const names: string[] = [];
  for await (const { name } of found) names.push(name);
  return names.sort();
}

function absent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

/** Runs the work and words errors of the system. */
async function said<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === null) throw thrown;
    const [what, hint] = isFull.has(code)
      ? [`The disk is full: the file was not stored in "${dir}", and no stored file is lost.`, makeRoom]
      : [
          `Cannot use the folder of files "${dir}": ${inWords(thrown)}.`,
          'Check FILES_DIR, its owner, its mode and the disk.',
        ];
    throw new SvcError('unavailable', what, { hint, cause: thrown });
  }
}

const isFull: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const makeRoom = 'Make room on the disk, then try again.';

/** The error code of a failed system call; null for any other error. */
function codeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || !('syscall' in thrown)) return null;
  return String(thrown.code);
}
