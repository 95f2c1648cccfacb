import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';

/** A path inside: the same as outside, to read or to write; empty; or the sandbox's own. */
type PathAccess = 'read' | 'write' | 'nothing' | Own;

/** The sandbox's own paths. */
const own = { '/proc': 'proc', '/dev': 'dev', '/tmp': 'tmp' } as const;
type Own = (typeof own)[keyof typeof own];

/** One path of a sandbox: the same as outside, empty, or the sandbox's own. */
export interface Mount {
  readonly at: string;
  readonly how: 'read' | 'write' | 'empty folder' | 'empty file' | Own;
}

/** A name that leads to a shown path. */
export interface Link {
  readonly at: string;
  readonly to: string;
  readonly how: 'read' | 'write';
}

/**
 * One sandbox's view of the machine, built path by path: a path that is not named does not exist inside. The first rule
 * for a path counts; below it, the nearest rule above. Paths are stored as real paths, so that no link bypasses a rule.
 */
export class View {
  readonly #mounts = new Map<string, PathAccess>();
  readonly #links = new Map<string, string>();
  readonly #hidden: readonly string[];

  private constructor(hidden: readonly string[]) {
    this.#hidden = hidden;
    for (const [at, what] of Object.entries(own)) this.#mounts.set(at, what);
    for (const one of hidden) this.#mounts.set(one, 'nothing');
  }

  /** `hidden` stays hidden, whatever is shown afterwards. */
  static async without(hidden: readonly string[]): Promise<View> {
    const found = await Promise.all(hidden.map(findReal));
    return new View(found.filter((one) => one !== null));
  }

  /** Does nothing when the path does not exist or is hidden. */
  async show(given: string, how: 'read' | 'write'): Promise<void> {
    const real = await findReal(given);
    if (real === null || this.#hidden.some((one) => isWithin(real, one))) return;
    if (!this.#mounts.has(real)) this.#mounts.set(real, how);
    if (real !== given) this.#links.set(given, real);
  }

  /** Shows a folder for writing. Its real path was checked before, so no link is followed again. */
  write(real: string, name: string, target: string): void {
    this.#mounts.set(real, 'write');
    if (name !== target) this.#links.set(name, target);
  }

  /** Shows a folder for writing, even inside a hidden folder. */
  async open(given: string): Promise<void> {
    const real = await realpath(given);
    this.#mounts.set(real, 'write');
    if (real !== given) this.#links.set(given, real);
  }

  /** Whether this path means the same inside as outside. */
  async shows(given: string): Promise<boolean> {
    const real = await findReal(given);
    return real !== null && isSame(this.#nearest(real));
  }

  /** All mounts, folders before their content. */
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

  /** Names that are not inside a shown path already. */
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

  /**
   * A writer above a hidden or read-only path could move it away with its folder, so that folder becomes a mount, which
   * cannot be moved.
   */
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
  readonly shown: PathAccess;
}

function isSame(rule: Rule | null): boolean {
  return rule?.shown === 'read' || rule?.shown === 'write';
}

export function isWithin(one: string, folder: string): boolean {
  return one === folder || one.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** For a missing path, the real path of its existing part, with the rest appended. */
export async function realEvenIfMissing(given: string): Promise<string> {
  const real = await findReal(given);
  if (real !== null || given === '/') return real ?? '/';
  return path.join(await realEvenIfMissing(path.dirname(given)), path.basename(given));
}

/** Null when it does not exist. */
export async function findReal(given: string): Promise<string | null> {
  return await realpath(given).catch(() => null);
}
