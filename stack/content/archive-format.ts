import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';

/**
 * An archive is lines of JSON, compressed with gzip: the head, the sections, and the end. A section begins with `{"section":NAME}` and is followed by
 * its rows, which are arrays. The end counts the rows of each section and has the sha256 of every byte before it.
 *
 * The promise: a version of the platform reads every format up to its own. A change that an older version would read wrongly is a new format.
 * Format 2 has the secrets, where asked, and the sections of the bus before those of the graph; format 1 has none of them. Format 3 has types and
 * fields of nodes that earlier ones lack: patterns of tools, deadlines of MCP servers, rotations of keys. Format 4 has accounts, mail, OAuth and tool rules. An
 * archive with secrets is encrypted as a whole, after it was compressed, with a passphrase (age-encryption.org/v1).
 */
export const formatVersion = 4;

/** No row is longer: values are bounded by the rules of their fields, and the bytes of files are cut into pieces. */
export const lineBytesMax = 16 * 1024 * 1024;
/** Each is remembered until it was found again where it went; a bus keeps fewer in its 256 MB. */
export const sessionsMax = 1_000_000;
/** Of a file, in one row. */
export const pieceBytes = 192 * 1024;

export const headSchema = z.object({
  svc: z.literal('backup'),
  format: z.int().min(1),
  version: z.string().max(100),
  createdAt: z.iso.datetime(),
  /** Fingerprint of the key that the secrets inside are encrypted with. */
  encryptionKey: z.string().regex(/^[0-9a-f]{16}$/),
  /** `approximate`: a platform ran, and the bus was read a moment beside the graph. `none`: the archive has nothing of the bus. */
  bus: z.enum(['exact', 'approximate', 'none']).default('none'),
});
export type ArchiveHead = z.infer<typeof headSchema>;

export const sectionSchema = z.object({ section: z.string().max(200) });

export const endSchema = z.object({
  end: z.object({ rows: z.record(z.string(), z.int().min(0)), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
});

/** Secrets that an archive may have: those of the platform itself. New ones are made for its bus and graph database. */
export const archivedSecrets = [
  'encryptionKey',
  'jwtPrivateKey',
  'remoteMcpKey',
  'runtimeKey',
  'mailKey',
  'signInProvider',
] as const;
export type ArchivedSecret = (typeof archivedSecrets)[number];
const secretMaxChars = 64 * 1024;

export const rows = {
  node: z.tuple([
    z.string(),
    z.int().min(1),
    z.string().nullable(),
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  ]),
  edge: z.tuple([z.string(), z.string()]),
  /** Digest and size of a file; its bytes follow, as pieces in base64. */
  file: z.tuple([z.string(), z.int().min(0)]),
  piece: z.tuple([z.base64()]),
  secret: z.tuple([z.enum(archivedSecrets), z.string().min(1).max(secretMaxChars)]),
  /** A record of usage that was not yet added up. */
  usage: z.tuple([z.base64()]),
  /** A session: its key, its value and when it expires, in milliseconds since 1970. */
  session: z.tuple([z.string(), z.base64(), z.int().min(0)]),
};

export const sections = {
  secrets: 'secrets',
  usage: 'usage',
  sessions: 'sessions',
  files: 'files',
  nodes: (type: string) => `node.${type}`,
  edges: (from: string, edge: string) => `edge.${from}.${edge}`,
};

const damages = {
  cut: 'is cut: it ends before its last line',
  changed: 'was changed after it was written',
  cutOrChanged: 'is cut, or was changed after it was written',
};

export function damaged(file: string, damage: keyof typeof damages, cause?: unknown): SvcError {
  return new SvcError('invalid_input', `"${file}" ${damages[damage]}.`, {
    hint: 'Copy it again from where it was written, or use another backup.',
    cause,
  });
}

export function noArchive(file: string, cause?: unknown): SvcError {
  return new SvcError('invalid_input', `"${file}" is not a backup of this platform.`, {
    hint: 'svc backup writes one.',
    cause,
  });
}

/** The error for a reader that failed: `isBegun` says whether it has read a line before. */
export function toArchiveError(thrown: unknown, isBegun: boolean, file: string): unknown {
  if (thrown instanceof SvcError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'Z_BUF_ERROR') return damaged(file, 'cut', thrown);
  if (code.startsWith('Z_')) return isBegun ? damaged(file, 'changed', thrown) : noArchive(file, thrown);
  if (code === 'ENOENT') {
    return new SvcError('not_found', `There is no file "${file}".`, {
      hint: 'Correct the path of the archive.',
      cause: thrown,
    });
  }
  if (code === 'EISDIR') return noArchive(file, thrown);
  return new SvcError('unavailable', `"${file}" can't be read: ${code}.`, { cause: thrown });
}
