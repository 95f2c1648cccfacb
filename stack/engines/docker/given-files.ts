import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SiteFile } from '../../parts/part.ts';
import { writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';

/** A file that a part is given, beside the container: its text, or the file of this machine that it is a copy of. */
export interface GivenFile {
  readonly name: string;
  readonly content: { readonly text: string } | { readonly copyOf: string };
}

/** Whoever is given files. */
interface Holder {
  readonly part: { readonly name: string };
  readonly given: readonly GivenFile[];
}

/** Copies of files of this machine. */
export function filesGiven(files: readonly SiteFile[]): readonly GivenFile[] {
  return files.map(({ file, path }) => ({ name: basename(path), content: { copyOf: file } }));
}

/** Where the files that a part is given lie on this machine. */
export function givenDirOf({ stateDir }: Installation, part: string): string {
  return join(stateDir, 'containers', part);
}

/** Who a file belongs to on this machine. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Writes the files that a part is given, and only those, for the user that it runs as: a folder of state/, which nobody else gets into. Copies, since
 * those in secrets/ belong to whoever owns the installation, which may be root, whom no part runs as.
 */
export function giveFiles(installation: Installation, { part, given }: Holder, { uid, gid }: Owner): void {
  if (given.length === 0) return;
  const dir = givenDirOf(installation, part.name);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(dir)) {
    if (!given.some((file) => file.name === name)) rmSync(join(dir, name), { recursive: true, force: true });
  }
  for (const file of given) {
    const path = join(dir, file.name);
    // Written for its owner alone before it is handed over.
    writeDurably(path, textOf(file), 0o400);
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
  }
  if (process.getuid?.() === 0) chownSync(dir, uid, gid);
  chmodSync(dir, 0o700);
}

/** Whether they are there as they were given. */
export function isGiven(installation: Installation, { part, given }: Holder): boolean {
  const dir = givenDirOf(installation, part.name);
  return given.every((file) => {
    try {
      return readFileSync(join(dir, file.name), 'utf8') === textOf(file);
    } catch {
      return false;
    }
  });
}

export function takeBackFiles(installation: Installation, part: string): void {
  rmSync(givenDirOf(installation, part), { recursive: true, force: true });
}

function textOf({ content }: GivenFile): string {
  return 'text' in content ? content.text : readFileSync(content.copyOf, 'utf8');
}
