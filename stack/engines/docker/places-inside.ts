import { join } from 'node:path';
import type { Part } from '../../part.ts';

/** The volume of a part, as the part sees it: everything that it keeps. */
export const dataDir = '/data';
/** The files that a part is given, as it sees them, and nothing else of this machine. */
export const givenDir = '/run/svc';
/** Every network that a container is in: which of its ports leave it is said by what is published. */
export const everywhere = '0.0.0.0';

/** All parts that run a service, by their names. */
export function hostsOf(service: Part['service'], port: number, parts: readonly Part[]): readonly string[] {
  return parts.filter((part) => part.service === service).map(({ name }) => `${name}:${port}`);
}

/** Files from several folders may have one name. */
export function insideName(file: string, files: readonly string[]): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const before = files.filter((other) => other.endsWith(`/${name}`)).indexOf(file);
  return join(givenDir, before > 0 ? `${before + 1}-${name}` : name);
}
