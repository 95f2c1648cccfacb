import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Installation } from '../../state/installation.ts';

const empty = 'ro,noexec,nosuid,nodev,size=4k,mode=555';

/** The platform's own folders, where they lie in what MCP servers are given to read: an empty one stands in the place of each. */
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

/** Without links, which lead elsewhere in a container. */
function asItIs(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
