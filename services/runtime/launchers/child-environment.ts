import path from 'node:path';
import type { EnvRecord } from '../../contracts/env/check.ts';
import { inheritedByChildren } from '../../contracts/env/inherited.ts';
import type { ChildPlace } from './child-place.ts';
import { markVariable } from './processes.ts';

/** The part of the runtime's own environment that children inherit. */
export function inheritedFrom(env: EnvRecord): Readonly<Record<string, string>> {
  const kept = inheritedByChildren(env);
  return { ...kept, PATH: withOwnNode(kept.PATH) };
}

export interface ChildEnvironmentOptions {
  readonly inherited: Readonly<Record<string, string>>;
  readonly place: ChildPlace;
  readonly mark: string;
  /** The variables of the MCP server's definition; they win over all others except the mark. */
  readonly own: Readonly<Record<string, string>>;
}

export function childEnvironment({ inherited, place, mark, own }: ChildEnvironmentOptions): Record<string, string> {
  const { home, temporary, cache } = place;
  const caches = cache === null ? {} : cachesIn(cache);
  return { ...inherited, ...caches, HOME: home, TMPDIR: temporary, ...own, [markVariable]: mark };
}

/** Where npm (npx), uv (uvx) and pip keep their downloads. */
function cachesIn(folder: string): Readonly<Record<string, string>> {
  return {
    npm_config_cache: path.join(folder, 'npm'),
    UV_CACHE_DIR: path.join(folder, 'uv'),
    PIP_CACHE_DIR: path.join(folder, 'pip'),
  };
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
