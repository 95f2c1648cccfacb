import { join } from 'node:path';
import type { Engine } from '../../settings/choices.ts';
import { foreignServers, repository } from '../foreign-servers.ts';
import { Platform, type PlatformOptions } from '../platform.ts';
import { environment } from './processes.ts';
import { platformSide } from './sides.ts';

/** A command that measures may take many minutes. */
const patienceMs = 1_800_000;

/** A platform whose MCP servers run on the Node of the bench, not started yet. */
export function initPlatform(options: PlatformOptions): Promise<Platform> {
  const host = process.env.DOCKER_HOST;
  const env = { PATH: environment.PATH ?? '', ...(host === undefined ? {} : { DOCKER_HOST: host }) };
  return Platform.init({ ...options, env, patienceMs });
}

export type BenchPlatform = Awaited<ReturnType<typeof startPlatform>>;

/** A platform for the bench: the demo, server-everything, a skill that echoes, a role and a key. */
export async function startPlatform(options: PlatformOptions = {}) {
  const platform = await initPlatform(options);
  await platform.up();
  // The demo has an echo too: the tool of the first MCP server has the bare name.
  await platform.addServer('everything', foreignServers.everything);
  /** The id of the skill that echoes. */
  const echo = await platform.addSkill('bench-echo', ['everything/echo']);
  await platform.addRole('Bench', ['bench-echo']);
  await platform.svc('apply', join(repository, 'templates/demo/platform.yaml'));
  const key = await platform.addKey('bench');
  const { urls, services } = await platform.svc('status');
  /** One for each remote-mcp, where the echo tool is listed from the start. */
  const mcpUrls: readonly URL[] = services.flatMap(({ name, url }: Service) =>
    name.startsWith('remote-mcp') ? [new URL(`/mcp?skillIds=${echo}`, url)] : [],
  );
  const [mcpUrl, apiUrl]: readonly [URL, string] = [new URL(urls.mcp), urls.api];
  return { platform, mcpUrl, mcpUrls, apiUrl, key, echo, side: () => platformSide(mcpUrls, key) };
}

interface Service {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
}

export async function serviceOf(platform: Platform, wanted: string): Promise<Service> {
  const { services } = await platform.svc('status');
  const service = services.find(({ name, pid }: Service) => name === wanted && pid !== null);
  if (service === undefined) throw new Error(`${wanted} does not run`);
  return service;
}

/** The demo's MCP server, as each engine finds it. */
export const demoServers: Readonly<Record<Engine, string>> = {
  docker: '/svc/dist/templates/demo/server.mjs',
  process: join(repository, 'templates/demo/server.mjs'),
};
