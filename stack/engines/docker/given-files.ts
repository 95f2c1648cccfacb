import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SiteFile } from '../../parts/part.ts';
import { writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';

/** A file that a part gets in its container: its text, or the file of this machine that it is a copy of. */
export interface GivenFile {
  readonly name: string;
  readonly content: { readonly text: string } | { readonly copyOf: string };
}

export function filesGiven(files: readonly SiteFile[]): readonly GivenFile[] {
  return files.map(({ file, path }) => ({ name: basename(path), content: { copyOf: file } }));
}

export function givenDirOf({ stateDir }: Installation, part: string): string {
  return join(stateDir, 'containers', part);
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Writes these files and no others, as copies: the files in secrets/ may belong to root. */
export function giveFiles(dir: string, given: readonly GivenFile[], owner: Owner): void {
  if (given.length === 0) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(dir)) {
    if (!given.some((file) => file.name === name)) rmSync(join(dir, name), { recursive: true, force: true });
  }
  for (const file of given) {
    const path = join(dir, file.name);
    // Only its owner can read the file before it changes hands.
    writeDurably(path, textOf(file), 0o400);
    handOver(path, owner);
  }
  handOver(dir, owner);
  chmodSync(dir, 0o700);
}

/** Only root gives files to another user. Any other user who runs `svc` owns them. */
export function handOver(path: string, { uid, gid }: Owner): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
}

export function takeBackFiles(installation: Installation, part: string): void {
  rmSync(givenDirOf(installation, part), { recursive: true, force: true });
}

function textOf({ content }: GivenFile): string {
  return 'text' in content ? content.text : readFileSync(content.copyOf, 'utf8');
}
