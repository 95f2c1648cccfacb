import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A secret to search for, with a name that may be printed. */
export interface Sought {
  readonly name: string;
  readonly value: string | Buffer;
}

/** The name of a secret, where it was found, and in which form; never the secret itself. */
export interface Finding {
  readonly secret: string;
  readonly form: string;
  readonly where: string;
}

/** Finds secrets in plain text, base64 and hex, also inside longer texts. */
export class SecretSearch {
  readonly #needles: { readonly secret: string; readonly form: string; readonly bytes: Buffer }[] = [];

  seek(...all: readonly Sought[]): void {
    for (const { name: secret, value } of all) {
      for (const [form, bytes] of formsOf(Buffer.from(value))) this.#needles.push({ secret, form, bytes });
    }
  }

  inText(text: string | Buffer, where: string): Finding[] {
    const bytes = Buffer.from(text);
    return this.#needles
      .filter((needle) => bytes.includes(needle.bytes))
      .map(({ secret, form }) => ({ secret, form, where }));
  }

  /**
   * Searches every file below a folder, byte by byte. A database is also read as one, because it spreads values over
   * its pages.
   */
  inFolder(folder: string): Finding[] {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.flatMap(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const bytes = readIfThere(path);
      if (bytes === null) return [];
      const asDatabase = bytes.subarray(0, magic.length).toString('latin1') === magic ? this.#inDatabase(path) : [];
      return [...this.inText(bytes, path), ...asDatabase];
    });
  }

  /** Reads a copy, because the owner of the database may have locked it. */
  #inDatabase(path: string): Finding[] {
    const copy = join(mkdtempSync(join(tmpdir(), 'svc-search-')), 'copy.sqlite');
    try {
      for (const ending of ['', '-wal']) if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending);
      using database = new DatabaseSync(copy);
      const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
      return tables.flatMap(({ name }) => {
        const values = database.prepare(`SELECT * FROM "${name}"`).all().flatMap(Object.values);
        const bytes = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : String(value)));
        return bytes.flatMap((value) => this.inText(value, `${path}, table ${name}`));
      });
    } finally {
      rmSync(dirname(copy), { recursive: true });
    }
  }
}

/** Format of SQLite files, 1.2 "The Database Header". */
const magic = 'SQLite format 3\0';

/** The forms of a value inside a longer text. */
export function formsOf(value: Buffer): readonly (readonly [form: string, text: Buffer])[] {
  const hex = value.toString('hex');
  return [
    ['plain', value],
    ['hex', Buffer.from(hex)],
    ['hex in capitals', Buffer.from(hex.toUpperCase())],
    ...[0, 1, 2].flatMap((before) => {
      const encoded = base64Within(value, before);
      return [
        [`base64, ${before} bytes in`, Buffer.from(encoded)],
        [`base64url, ${before} bytes in`, Buffer.from(encoded.replaceAll('+', '-').replaceAll('/', '_'))],
      ] as const;
    }),
  ];
}

/** The base64 of a value behind this many bytes, without characters that also encode its neighbours (RFC 4648 §4). */
function base64Within(value: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), value])
    .toString('base64')
    .replaceAll('=', '');
  const shared = ((before + value.length) * 8) % 6 === 0 ? encoded.length : encoded.length - 1;
  return encoded.slice(Math.ceil((before * 8) / 6), shared);
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null; // A temporary file, such as a journal.
  }
}
