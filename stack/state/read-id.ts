import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The id is near the beginning of svc.yaml. */
const readMaxBytes = 64 * 1024;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * The id in the svc.yaml of a folder, or null. The rest of the file may be wrong, and the folder may belong to another
 * user: no link is followed, and no pipe is waited for.
 */
export function readId(dir: string): string | null {
  try {
    const file = openSync(join(dir, 'svc.yaml'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) return null;
      const bytes = Buffer.alloc(readMaxBytes);
      const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, readMaxBytes, 0));
      return /^id:\s*["']?([a-z0-9]{8,32})["']?\s*(#.*)?$/m.exec(text)?.[1] ?? null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
