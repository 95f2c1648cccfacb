import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The folder of a Node that is too old for svc and new enough for npm, like that of some machines; null if there is
 * none.
 */
export function findOldNode(path = process.env.PATH ?? ''): string | null {
  // npm puts the repository's Node before the machine's own.
  const folders = path.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return [...folders, '/usr/local/bin', '/usr/bin'].find(isOldNode) ?? null;
}

function isOldNode(folder: string): boolean {
  if (!existsSync(join(folder, 'npm'))) return false;
  const { stdout } = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' });
  const major = Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]);
  return major >= 20 && major < 24;
}
