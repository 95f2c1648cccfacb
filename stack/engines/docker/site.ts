import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Site } from '../../parts/setup.ts';
import { type PortWish, usualPorts } from '../../settings/ports.ts';
import type { Installation } from '../../state/installation.ts';

/** The volume of a part, inside its container. */
export const dataDir = '/data';
/** The files of a part, inside its container. The container sees no other file of this machine. */
export const givenDir = '/run/svc';

/** The folder of the built code in the service image. */
export const dist = '/svc/dist';

/** Only a published port of a container is a port of this machine. */
export function isPublished(wish: PortWish): boolean {
  return wish.isPublished;
}

/** Containers have their own networks, ports and files, and reach each other by name. */
export function containerSite({ secretsDir }: Installation, wishes: readonly PortWish[]): Site {
  return {
    isPrivate: true,
    ports: { ...usualPorts, ...Object.fromEntries(wishes.map(({ name, inside }) => [name, inside])) },
    // On all networks of the container. Only published ports are reachable from outside.
    listenOn: () => '0.0.0.0',
    hostOf: (part) => part,
    pathOf: (file) => join(givenDir, nameOf(file, secretsDir)),
    dataPathOf: (_, file = '') => join(dataDir, file),
    scratchPathOf: () => '/tmp',
  };
}

/** Files from different folders may have the same name. */
function nameOf(file: string, secretsDir: string): string {
  if (dirname(file) === secretsDir) return basename(file);
  return `${createHash('sha256').update(file).digest('hex').slice(0, 8)}-${basename(file)}`;
}
