import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { endTree, treeOf } from './process-tree.ts';
import { findBirth, type Look } from './processes.ts';

/**
 * A note for each running child, `children/<mark>` in the working directory. After a kill -9 of the runtime, the next
 * one reads the notes and ends the children. Runtimes may share the directory, so a note names the process that wrote
 * it. Its first line is written before the child starts, the second once its pid is known.
 */
const opening = z.object({
  mark: z.string().regex(/^[\w-]{8,100}$/),
  owner: z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() }),
  /** Socket of the Docker that runs it, if it is a container. */
  docker: z.string().max(4096).optional(),
});
const born = z.object({ pid: z.number().int().positive(), birth: z.string().max(200).nullable() });

type Note = z.infer<typeof opening> & { readonly child: z.infer<typeof born> | null };

export interface ChildNote {
  born(pid: number): Promise<void>;
  remove(): Promise<void>;
}

export interface ChildNotes {
  /** Must be called before the child with this mark is started. */
  open(mark: string): Promise<ChildNote>;
}

/** `docker` is the socket of the Docker that runs the children, if they are containers. */
export async function openChildNotes(workingDir: string, docker?: string): Promise<ChildNotes> {
  const folder = folderOf(workingDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const owner = { pid: process.pid, birth: await findBirth(process.pid) };
  return {
    async open(mark) {
      const file = path.join(folder, mark);
      await writeFile(file, lineOf({ mark, owner, docker } satisfies z.infer<typeof opening>), { mode: 0o600 });
      return {
        born: async (pid) =>
          appendFile(file, lineOf({ pid, birth: await findBirth(pid) } satisfies z.infer<typeof born>)),
        remove: () => rm(file, { force: true }),
      };
    },
  };
}

/** Ends the children that dead runtimes left running; returns how many there were. */
export async function endLeftovers(workingDir: string, look: Look): Promise<number> {
  const folder = folderOf(workingDir);
  const names = await readdir(folder).catch(() => []);
  const processes = await look();
  const isLiving = ({ pid, birth }: z.infer<typeof born>) =>
    birth !== null && processes.some((one) => one.pid === pid && one.birth === birth);
  const endOne = async (name: string): Promise<boolean> => {
    const file = path.join(folder, name);
    const note = await readNote(file);
    if (note === null || isLiving(note.owner)) return false;
    const { mark, docker, child } = note;
    if (docker !== undefined) return endInDocker(docker, mark, file);
    // Without a pid, or with a reused one, only its mark identifies the processes.
    const current = child !== null && isLiving(child);
    const root = { pid: child?.pid ?? 0, birth: child?.birth ?? null, mark, current, isHolder: false };
    await endTree(root, { look, graceMs });
    await rm(file, { force: true });
    return treeOf(root, processes).length > 0;
  };
  // All at once: each may take its whole grace period, and the runtime begins after the last of them.
  const ended = await Promise.all(names.map(endOne));
  return ended.filter((lived) => lived).length;
}

/** When Docker does not answer, the note stays for the next runtime. */
async function endInDocker(socket: string, mark: string, file: string): Promise<boolean> {
  try {
    const { endContainer } = await import('./sandbox/container.ts');
    const lived = await endContainer(socket, mark);
    await rm(file, { force: true });
    return lived;
  } catch {
    return false;
  }
}

/** Their standard input closed when their runtime died; a child that still lives ignored that. */
const graceMs = 1000;

async function readNote(file: string): Promise<Note | null> {
  try {
    const [first = '', ...rest] = (await readFile(file, 'utf8')).split('\n');
    // A half-written second line is ignored.
    const child = rest.length < 2 ? null : born.parse(JSON.parse(rest[0] ?? ''));
    return { ...opening.parse(JSON.parse(first)), child };
  } catch {
    return null; // Another runtime is writing it now, or it is a foreign file.
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function folderOf(workingDir: string): string {
  return path.join(workingDir, 'children');
}
