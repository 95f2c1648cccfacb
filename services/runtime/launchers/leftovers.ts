import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { endTree } from './process-tree.ts';
import { findBirth, type Look } from './processes.ts';

/**
 * A note for each child that runs, `children/<pid>` in the working directory: after a kill -9 of the runtime the next one reads
 * them and ends what is left. Several runtimes may share the directory; a note belongs to the process that wrote it.
 */
const note = z.object({
  mark: z.string().min(8).max(100),
  birth: z.string().max(200).nullable(),
  owner: z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() }),
});
type Note = z.infer<typeof note>;

export interface ChildNotes {
  /** Returns what removes the note again. */
  write(child: { readonly pid: number; readonly mark: string }): Promise<() => Promise<void>>;
}

export async function openChildNotes(workingDir: string): Promise<ChildNotes> {
  const folder = folderOf(workingDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const owner = { pid: process.pid, birth: await findBirth(process.pid) };
  return {
    async write({ pid, mark }) {
      const file = path.join(folder, String(pid));
      const text = JSON.stringify({ mark, birth: await findBirth(pid), owner } satisfies Note);
      await writeFile(file, text, { mode: 0o600 });
      return () => rm(file, { force: true });
    },
  };
}

/** Ends the children that dead runtimes left behind; returns how many of them still lived. */
export async function endLeftovers(workingDir: string, look: Look): Promise<number> {
  const folder = folderOf(workingDir);
  const names = await readdir(folder).catch(() => []);
  const births = new Map((await look()).map((one) => [one.pid, one.birth]));
  let ended = 0;
  for (const name of names.filter((candidate) => /^\d{1,10}$/.test(candidate))) {
    const file = path.join(folder, name);
    const written = await readNote(file);
    if (written !== null) {
      if (births.get(written.owner.pid) === written.owner.birth && written.owner.birth !== null) continue;
      ended += await endOne(Number(name), written, births, look);
    }
    await rm(file, { force: true });
  }
  return ended;
}

async function endOne(
  pid: number,
  { mark, birth }: Note,
  births: ReadonlyMap<number, string>,
  look: Look,
): Promise<number> {
  const current = birth !== null && births.get(pid) === birth;
  await endTree({ pid, mark, birth, current }, { look, graceMs });
  return current ? 1 : 0;
}

/** Their standard input closed when their runtime died: who still lives did not take that as the end. */
const graceMs = 1000;

async function readNote(file: string): Promise<Note | null> {
  try {
    return note.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null; // Half written when its runtime was killed, or not ours.
  }
}

function folderOf(workingDir: string): string {
  return path.join(workingDir, 'children');
}
