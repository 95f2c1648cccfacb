import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { PortWish } from '../../parts/port-wish.ts';
import type { Site } from '../../parts/site.ts';
import { usualPorts } from '../../settings/ports.ts';
import type { Installation } from '../../state/installation.ts';

/** Where a container finds its volume. */
export const dataDir = '/data';
/** Where a container finds the files that it is given. It sees no other file of this machine. */
export const givenDir = '/run/svc';

/** Only a published port of a container is a port of this machine. */
export function isPublished(wish: PortWish): boolean {
  return wish.isPublished;
}

/** Containers have networks, ports and files of their own, and reach each other by name. */
export function containerSite({ secretsDir }: Installation, wishes: readonly PortWish[]): Site {
  return {
    isPrivate: true,
    ports: { ...usualPorts, ...Object.fromEntries(wishes.map(({ name, inside }) => [name, inside])) },
    // Every network of the container. A port leaves them only where it is published.
    listenOn: () => '0.0.0.0',
    hostOf: (part) => part,
    pathOf: (file) => join(givenDir, nameOf(file, secretsDir)),
    dataPathOf: (_, file = '') => join(dataDir, file),
    scratchPathOf: () => '/tmp',
  };
}

/** Files from several folders may have one name. */
function nameOf(file: string, secretsDir: string): string {
  if (dirname(file) === secretsDir) return basename(file);
  return `${createHash('sha256').update(file).digest('hex').slice(0, 8)}-${basename(file)}`;
}
