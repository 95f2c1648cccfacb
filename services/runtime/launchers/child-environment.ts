import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { EnvRecord } from '../../contracts/env/check.ts';
import { markVariable } from './processes.ts';

/** What a child inherits: where programs lie, language and time, the way out through proxies, whom to trust, npm's settings. */
const inherited =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|npm_config_.+)$/i;

/** npm hands its own invocation down as settings: with these an `npx` below an `npx` would run the wrong package. */
const ofOneInvocation =
  /^npm_config_(package|call|yes|workspaces?|include_workspace_root|local_prefix|global|dry_run|json|omit|include|production|save.*)$/i;

export function inheritedFrom(env: EnvRecord): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && inherited.test(name) && !ofOneInvocation.test(name)) kept[name] = value;
  }
  return { ...kept, PATH: withOwnNode(kept.PATH) };
}

export interface ChildPlace {
  /** HOME, kept between starts: an `npx` finds there what it fetched before. */
  readonly home: string;
  readonly temporary: string;
}

export async function makePlace(workingDir: string, mcpServer: string): Promise<ChildPlace> {
  const place = { home: path.join(workingDir, 'homes', mcpServer), temporary: path.join(workingDir, 'tmp', mcpServer) };
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
