import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { randomText } from '../../contracts/ids.ts';
import { inWords } from '../../contracts/system-words.ts';
import { findBirth, type Look } from './processes.ts';

/** The temporary folders of one runtime's MCP servers. */
export interface TemporaryFolders {
  /** Contains all of them: private, and hidden from every sandbox. */
  readonly base: string;
  /** A new empty folder. */
  make(): Promise<string>;
  remove(folder: string): Promise<void>;
  /** Removes all of them. */
  close(): Promise<void>;
}

/**
 * Programs make Unix sockets in TMPDIR, whose paths have 107 bytes at most (104 on macOS). Chromium appends 45. A
 * longer base is not used.
 */
export const baseMaxBytes = 44;
/** With a slash and the number of a launch. */
export const temporaryMaxBytes = baseMaxBytes + 8;

const nameLength = 6;
const namePattern = /^svc-\w{6}$/;
const attemptsMax = 100;

/** In the working directory: base folders, each with the process that made it. The next runtime removes those of killed ones. */
const note = z.object({
  base: z.string().max(4096),
  owner: z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() }),
});
type Note = z.infer<typeof note>;

/** Makes a folder that is short enough for sockets: in the working directory, or else in the machine's temporary folder. */
export async function openTemporaryFolders(
  workingDir: string,
  candidates: readonly string[] = [workingDir, tmpdir(), '/tmp'],
): Promise<TemporaryFolders> {
  const owner = { pid: process.pid, birth: await findBirth(process.pid) };
  const { base, noteFile } = await makeBase(workingDir, candidates, owner);
  let count = 0;
  return {
    base,
    async make() {
      const folder = path.join(base, (count++).toString(36));
      await mkdir(folder, { mode: 0o700 }).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error;
        // The machine removes old folders. Fails if another user has made one of this name meanwhile.
        await mkdir(base, { mode: 0o700 });
        await mkdir(folder, { mode: 0o700 });
      });
      return folder;
    },
    remove: (folder) => removeFolder(folder),
    async close() {
      await removeFolder(base);
      await rm(noteFile, { force: true });
    },
  };
}

/** Removes the base folders of dead runtimes in this working directory. */
export async function removeLeftTemporary(workingDir: string, look: Look): Promise<void> {
  const folder = notesIn(workingDir);
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const living = await look();
  for (const name of names) {
    const file = path.join(folder, name);
    const found = await readNote(file);
    if (found === null || living.some(({ pid, birth }) => pid === found.owner.pid && birth === found.owner.birth))
      continue;
    if (await isOwnBase(found.base)) await removeFolder(found.base);
    await rm(file, { force: true });
  }
}

async function makeBase(workingDir: string, candidates: readonly string[], owner: Note['owner']) {
  await mkdir(notesIn(workingDir), { recursive: true, mode: 0o700 });
  let problem: unknown = null;
  for (const above of candidates) {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const name = `svc-${randomText(nameLength)}`;
      const base = path.join(above, name);
      if (Buffer.byteLength(base) > baseMaxBytes) break;
      const noteFile = path.join(notesIn(workingDir), name);
      // The note comes first, so that no folder is left without one.
      await writeFile(noteFile, JSON.stringify({ base, owner } satisfies Note), { mode: 0o600 });
      try {
        // Fails on anything of that name, also a link: another user can prepare no folder for this process.
        await mkdir(base, { mode: 0o700 });
        return { base, noteFile };
      } catch (error) {
        problem = error;
        await rm(noteFile, { force: true });
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) break;
      }
    }
  }
  throw new SvcError('unavailable', `No temporary folder for MCP servers could be made: ${inWords(problem)}.`, {
    hint: `Set TMPDIR to a folder that the user of the runtime may write to, with at most ${baseMaxBytes - nameLength - 5} characters.`,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A folder of this user, not a link, with a name that only this module gives. */
async function isOwnBase(base: string): Promise<boolean> {
  const found = await lstat(base).catch(() => null);
  const isOwn = found !== null && (process.getuid === undefined || found.uid === process.getuid());
  return isOwn && found.isDirectory() && namePattern.test(path.basename(base));
}

/** Removes no target of a link. */
function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function readNote(file: string): Promise<Note | null> {
  try {
    return note.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null; // Another runtime is writing it now, or it is a foreign file.
  }
}

function notesIn(workingDir: string): string {
  return path.join(workingDir, 'temporary');
}
