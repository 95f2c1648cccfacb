import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';

/** What a path is inside: the same as outside, to read or to write; empty; or something of the sandbox's own. */
type Shown = 'read' | 'write' | 'nothing' | Own;

/** What every sandbox has of its own. */
const own = { '/proc': 'proc', '/dev': 'dev', '/tmp': 'tmp' } as const;
type Own = (typeof own)[keyof typeof own];

/** What is at one path of a sandbox: the same as outside, nothing where all around is the same, or something of its own. */
export interface Mount {
  readonly at: string;
  readonly how: 'read' | 'write' | 'empty folder' | 'empty file' | Own;
}

/** A name that leads to what is shown. */
export interface Link {
  readonly at: string;
  readonly to: string;
  readonly how: 'read' | 'write';
}

/**
 * What one sandbox sees of the machine, put together path by path: whatever is not named is not there. What was said of a path first counts,
 * and below it the nearest that was said of one above. Paths are kept as they really are, so that no link leads around a rule.
 */
export class View {
  readonly #mounts = new Map<string, Shown>();
  readonly #links = new Map<string, string>();
  readonly #hidden: readonly string[];

  private constructor(hidden: readonly string[]) {
    this.#hidden = hidden;
    for (const [at, what] of Object.entries(own)) this.#mounts.set(at, what);
    for (const one of hidden) this.#mounts.set(one, 'nothing');
  }

  /** `hidden` stays so, whatever is shown afterwards. */
  static async without(hidden: readonly string[]): Promise<View> {
    const found = await Promise.all(hidden.map(findReal));
    return new View(found.filter((one) => one !== null));
  }

  /** Nothing happens where there is no such path, or it is hidden. */
  async show(given: string, how: 'read' | 'write'): Promise<void> {
    const real = await findReal(given);
    if (real === null || this.#hidden.some((one) => isWithin(real, one))) return;
    if (!this.#mounts.has(real)) this.#mounts.set(real, how);
    if (real !== given) this.#links.set(given, real);
  }

  /** Shows a folder for writing. Its path was checked as it is here, so that no link is followed once more. */
  write(real: string, name: string, target: string): void {
    this.#mounts.set(real, 'write');
    if (name !== target) this.#links.set(name, target);
  }

  /** Shows a folder for writing, though what it lies in is hidden. */
  async open(given: string): Promise<void> {
    const real = await realpath(given);
    this.#mounts.set(real, 'write');
    if (real !== given) this.#links.set(given, real);
  }

  /** Whether what this path names outside is the same inside. */
  async shows(given: string): Promise<boolean> {
    const real = await findReal(given);
    return real !== null && isSame(this.#nearest(real));
  }

  /** All that makes it, folders before what lies in them. */
  async mounts(): Promise<readonly Mount[]> {
    this.#holdInPlace();
    const mounts: Mount[] = [];
    for (const [at, shown] of [...this.#mounts].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const above = this.#above(at);
      if (shown === 'nothing') {
        if (isSame(above)) mounts.push({ at, how: (await lstat(at)).isDirectory() ? 'empty folder' : 'empty file' });
      } else if (shown !== 'read' || above?.shown !== 'read') mounts.push({ at, how: shown });
    }
    return mounts;
  }

  /** Names that are not in what is shown already. */
  async links(): Promise<readonly Link[]> {
    const needed: Link[] = [];
    for (const [at, to] of this.#links) {
      const folder = await findReal(path.dirname(at));
      const how = this.#nearest(to)?.shown;
      if (folder === null || isSame(this.#nearest(folder))) continue;
      if (how === 'read' || how === 'write') needed.push({ at, to, how });
    }
    return needed;
  }

  /** Whoever may write above what is hidden or read only could move it away with the folder that it is in: a mount can't be moved. */
  #holdInPlace(): void {
    for (const real of [...this.#mounts.keys()]) {
      const above = this.#above(real);
      if (above?.shown !== 'write') continue;
      for (let at = path.dirname(real); at !== above.at; at = path.dirname(at)) this.#mounts.set(at, 'write');
    }
  }

  #above(real: string): Rule | null {
    return real === '/' ? null : this.#nearest(path.dirname(real));
  }

  #nearest(real: string): Rule | null {
    for (let at = real; ; at = path.dirname(at)) {
      const shown = this.#mounts.get(at);
      if (shown !== undefined) return { at, shown };
      if (at === '/') return null;
    }
  }
}

interface Rule {
  readonly at: string;
  readonly shown: Shown;
}

function isSame(rule: Rule | null): boolean {
  return rule?.shown === 'read' || rule?.shown === 'write';
}

export function isWithin(one: string, folder: string): boolean {
  return one === folder || one.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Of a path that is not there, the part that is, with the rest behind it. */
export async function realEvenIfMissing(given: string): Promise<string> {
  const real = await findReal(given);
  if (real !== null || given === '/') return real ?? '/';
  return path.join(await realEvenIfMissing(path.dirname(given)), path.basename(given));
}

/** Null where there is none. */
export async function findReal(given: string): Promise<string | null> {
  return await realpath(given).catch(() => null);
}
