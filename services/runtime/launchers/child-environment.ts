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
  /** HOME, kept between starts: an `npx` finds there what it fetched before. */
  readonly home: string;
  readonly temporary: string;
}

/** A home is not handed on from a member to an operator: what lies in it would run with the operator's trust. */
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
  /** What the MCP server's definition sets; it wins over everything but the mark. */
  readonly own: Readonly<Record<string, string>>;
}

export function childEnvironment({ inherited, place, mark, own }: ChildEnvironmentOptions): Record<string, string> {
  return { ...inherited, HOME: place.home, TMPDIR: place.temporary, ...own, [markVariable]: mark };
}

/** The Node that runs the platform comes last: a machine's own is preferred, and `node` is found on one that has none. */
function withOwnNode(searchPath: string | undefined): string {
  const own = path.dirname(process.execPath);
  const given = searchPath === undefined || searchPath === '' ? defaultPath : searchPath;
  return given.split(':').includes(own) ? given : `${given}:${own}`;
}

const defaultPath = '/usr/local/bin:/usr/bin:/bin';
