import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { EnvRecord } from '../../contracts/env/check.ts';
import { inheritedByChildren } from '../../contracts/env/inherited.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { markVariable } from './processes.ts';

/** The part of the runtime's own environment that children inherit. */
export function inheritedFrom(env: EnvRecord): Readonly<Record<string, string>> {
  const kept = inheritedByChildren(env);
  return { ...kept, PATH: withOwnNode(kept.PATH) };
}

export interface ChildPlace {
  /** HOME, kept between starts: an `npx` finds its downloads there. */
  readonly home: string;
  readonly temporary: string;
}

/** A member's home is not passed on to an operator's command: its files would run with the operator's trust. */
export function placesOf(workingDir: string, mcpServer: string): Readonly<Record<Author, ChildPlace>> {
  const placeIn = (homes: string, temporary: string) => ({
    home: path.join(workingDir, homes, mcpServer),
    temporary: path.join(workingDir, temporary, mcpServer),
  });
  return { operator: placeIn('homes', 'tmp'), member: placeIn('member-homes', 'member-tmp') };
}

export async function makePlace(place: ChildPlace): Promise<ChildPlace> {
  await mkdir(place.home, { recursive: true, mode: 0o700 });
  await mkdir(place.temporary, { recursive: true, mode: 0o700 });
  return place;
}

export interface ChildEnvironmentOptions {
  readonly inherited: Readonly<Record<string, string>>;
  readonly place: ChildPlace;
  readonly mark: string;
  /** The variables of the MCP server's definition; they win over all others except the mark. */
  readonly own: Readonly<Record<string, string>>;
}

export function childEnvironment({ inherited, place, mark, own }: ChildEnvironmentOptions): Record<string, string> {
  return { ...inherited, HOME: place.home, TMPDIR: place.temporary, ...own, [markVariable]: mark };
}

/**
 * The platform's own Node comes last, so that a machine's own is preferred and a machine without one still finds
 * `node`.
 */
function withOwnNode(searchPath: string | undefined): string {
  const own = path.dirname(process.execPath);
  const given = searchPath === undefined || searchPath === '' ? defaultPath : searchPath;
  return given.split(':').includes(own) ? given : `${given}:${own}`;
}

const defaultPath = '/usr/local/bin:/usr/bin:/bin';
