import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { endTree, type TreeRoot, treeOf } from './process-tree.ts';
import { findBirth, type Look } from './processes.ts';

/**
 * A note for each child that runs, `children/<mark>` in the working directory: after a kill -9 of the runtime the next one reads
 * them and ends what is left. Several runtimes may share the directory; a note belongs to the process that wrote it. Its first line is
 * there before the child is, the second one once the child's pid is known.
 */
const opening = z.object({
  mark: z.string().min(8).max(100),
  owner: z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() }),
});
const born = z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() });

type Note = z.infer<typeof opening> & { readonly child: z.infer<typeof born> | null };

export interface ChildNote {
  born(pid: number): Promise<void>;
  remove(): Promise<void>;
}

export interface ChildNotes {
  /** To be called before the child with this mark is started. */
  open(mark: string): Promise<ChildNote>;
}

export async function openChildNotes(workingDir: string): Promise<ChildNotes> {
  const folder = folderOf(workingDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const owner = { pid: process.pid, birth: await findBirth(process.pid) };
  return {
    async open(mark) {
      const file = path.join(folder, mark);
      await writeFile(file, lineOf({ mark, owner } satisfies z.infer<typeof opening>), { mode: 0o600 });
      return {
        born: async (pid) =>
          appendFile(file, lineOf({ pid, birth: await findBirth(pid) } satisfies z.infer<typeof born>)),
        remove: () => rm(file, { force: true }),
      };
    },
  };
}

/** Ends the children that dead runtimes left behind; returns how many of them still lived. */
export async function endLeftovers(workingDir: string, look: Look): Promise<number> {
  const folder = folderOf(workingDir);
  const names = await readdir(folder).catch(() => []);
  const processes = await look();
  const isLiving = ({ pid, birth }: z.infer<typeof born>) =>
    birth !== null && processes.some((one) => one.pid === pid && one.birth === birth);
  const left: { file: string; root: TreeRoot }[] = [];
  for (const name of names) {
    const file = path.join(folder, name);
    const note = await readNote(file);
    if (note === null || isLiving(note.owner)) continue;
    const { mark, child } = note;
    // Without a pid, or with one that is somebody else's now, its mark alone tells what is left of it.
    const current = child !== null && isLiving(child);
    left.push({ file, root: { pid: child?.pid ?? 0, birth: child?.birth ?? null, mark, current, isHolder: false } });
  }
  const endOne = async ({ file, root }: (typeof left)[number]) => {
    await endTree(root, { look, graceMs });
    await rm(file, { force: true });
  };
  // All at once: each may take its whole grace, and the runtime begins after the last of them.
  await Promise.all(left.map(endOne));
  return left.filter(({ root }) => treeOf(root, processes).length > 0).length;
}

/** Their standard input closed when their runtime died: who still lives did not take that as the end. */
const graceMs = 1000;

async function readNote(file: string): Promise<Note | null> {
  try {
    const [first = '', ...rest] = (await readFile(file, 'utf8')).split('\n');
    // Half written, its second line is none.
    const child = rest.length < 2 ? null : born.parse(JSON.parse(rest[0] ?? ''));
    return { ...opening.parse(JSON.parse(first)), child };
  } catch {
    return null; // Another runtime is writing it now, or it isn't ours.
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function folderOf(workingDir: string): string {
  return path.join(workingDir, 'children');
}
