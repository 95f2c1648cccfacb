import { join } from 'node:path';
import { haveDgraphImage } from '../../engines/docker/test/dgraph-image.ts';
import type { Engine } from '../../settings/choices.ts';
import { repository } from '../foreign-servers.ts';
import { hasDgraph, Platform, type PlatformOptions } from '../platform.ts';

/** A command that measures may take many minutes. */
const patienceMs = 1_800_000;

/** A platform that is not started yet. */
export function initPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { DOCKER_HOST } = process.env;
  return Platform.init({ ...options, env: DOCKER_HOST === undefined ? {} : { DOCKER_HOST }, patienceMs });
}

/** What this machine lacks for such a platform; null if it has everything. */
export async function missingFor({ graph, engine }: PlatformOptions): Promise<string | null> {
  const host = process.env.DOCKER_HOST ?? null;
  if (engine === 'docker' && host === null) return 'DOCKER_HOST is not set';
  if (graph !== 'dgraph') return null;
  if (engine === 'docker') return (await haveDgraphImage(host)) ? null : 'Docker has no image of Dgraph';
  return hasDgraph ? null : 'dgraph is not on the path';
}

/** The demo's MCP server, as each engine finds it. */
const demoServers: Readonly<Record<Engine, string>> = {
  docker: '/svc/dist/templates/demo/server.mjs',
  process: join(repository, 'templates/demo/server.mjs'),
};

/** Adds the demo's MCP server, and returns a key that may call its tool `echo`. */
export async function addDemo(platform: Platform, engine: Engine = 'process'): Promise<string> {
  await platform.addServer('demo', ['node', demoServers[engine]]);
  await platform.addSkill('demo', ['demo/echo']);
  await platform.addRole('Demo', ['demo']);
  return await platform.addKey('bench');
}

/** A running platform with the demo, and a key. */
export interface BenchPlatform extends AsyncDisposable {
  readonly platform: Platform;
  readonly key: string;
}

export async function startPlatform(options: PlatformOptions = {}): Promise<BenchPlatform> {
  const platform = await initPlatform(options);
  await platform.up();
  const key = await addDemo(platform, options.engine);
  return { platform, key, [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose]() };
}
