import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every file and folder of an installation with its content, mode and modification time. Left out are a running
 * command's lock, the time of its folder state/, and the time of SQLite's shared memory, where readers take locks.
 */
export function everythingIn(dir: string): Readonly<Record<string, string>> {
  const paths = ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })];
  const kept = paths.filter((path) => path !== 'state/command.lock');
  return Object.fromEntries(
    kept.map((path) => {
      const stat = lstatSync(join(dir, path), { bigint: true });
      const time = path === 'state' || path.endsWith('-shm') ? '' : stat.mtimeNs;
      const content = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(dir, path)))
            .digest('hex')
        : '';
      return [path, `${stat.mode.toString(8)} ${time} ${content}`];
    }),
  );
}
