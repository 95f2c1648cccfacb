import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Installation } from '../../state/installation.ts';

const empty = 'ro,noexec,nosuid,nodev,size=4k,mode=555';

/** Covers the platform's own folders with empty ones where MCP servers may read the folder around them. */
export function hiddenIn(
  allowed: readonly string[],
  { secretsDir, dataDir, stateDir, logsDir }: Installation,
): Readonly<Record<string, string>> {
  const own = [secretsDir, dataDir, stateDir, logsDir].map(asItIs);
  const places = allowed.flatMap((path) => {
    const real = asItIs(path);
    const inside = own.filter((folder) => folder.startsWith(real.endsWith(sep) ? real : `${real}${sep}`));
    return inside.map((folder) => join(path, relative(real, folder)));
  });
  return Object.fromEntries(places.map((place) => [place, empty]));
}

/** Symbolic links are resolved, because a container resolves them differently. */
function asItIs(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
