import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk in memory over a folder, which can be filled. Its files are gone with it, but the folder stays. */
export class SmallDisk implements Disposable {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, 'ballast');
  }

  static mount(folder: string, sizeMb: number): SmallDisk {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!tryMount(folder, sizeMb)) throw new Error(`nothing could be mounted at ${folder}`);
    return new SmallDisk(folder);
  }

  /** Fills the disk to the last byte, except for these. */
  fill(leaveBytes = 0): void {
    for (const size of [64 * 1024, 512]) this.#write(Buffer.alloc(size, 1));
    if (leaveBytes > 0) truncateSync(this.#ballast, statSync(this.#ballast).size - leaveBytes);
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    this.makeRoom();
    unmount(this.folder);
  }

  #write(chunk: Buffer): void {
    try {
      for (;;) appendFileSync(this.#ballast, chunk);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
}

/** Only root may mount. This runs before tests are collected: later is too late to skip. */
export const canMount = tryOnce();

function tryOnce(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'svc-small-disk-'));
  const could = tryMount(folder, 1);
  unmount(folder);
  rmSync(folder, { recursive: true });
  return could;
}

function tryMount(folder: string, sizeMb: number): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=700`, 'tmpfs', folder]).status === 0;
}

function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder]);
}
