import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Platform } from '../platform.ts';
import { environment, everything, repository, svc } from './processes.ts';
import { platformSide, type Side } from './sides.ts';

/** An installation of its own for the bench: the demo, server-everything, a skill that echoes, a role and a key. */
export interface BenchPlatform {
  readonly dir: string;
  readonly mcpUrl: URL;
  /** One for each remote-mcp. */
  readonly mcpUrls: readonly URL[];
  readonly apiUrl: string;
  readonly key: string;
  /** The process that all services run in. */
  readonly pid: number;
  /** Sessions in which the echo tool is there from the start. */
  side(): Side;
  remove(): Promise<void>;
}

const status = z.object({
  urls: z.object({ mcp: z.string(), api: z.string() }),
  services: z.array(z.object({ name: z.string(), pid: z.number().nullable(), url: z.string() })),
});
const skills = z.object({ skills: z.array(z.object({ id: z.string(), name: z.string() })) });

export interface PlatformOptions {
  /** Each service in a process of its own, so many of those that may be several, on a real bus. */
  readonly replicas?: number;
  readonly graph?: 'sqlite' | 'dgraph';
}

export async function startPlatform({ replicas, graph = 'sqlite' }: PlatformOptions = {}): Promise<BenchPlatform> {
  const platform = await Platform.start({
    topology: replicas === undefined ? 'embedded' : 'distributed',
    ...{ graph, env: { PATH: environment.PATH ?? '' } },
    replicas: { 'remote-mcp': replicas ?? 1, runtime: replicas ?? 1 },
  });
  const { dir } = platform.installation;
  const file = join(dir, 'bench.yaml');
  await writeFile(file, benchFile);
  // The demo has an echo too: whose is listed first has the bare name.
  await platform.addServer('everything', [process.execPath, everything, 'stdio']);
  await platform.svc('apply', file, join(repository, 'templates/demo/platform.yaml'));
  const key = await platform.addKey('bench');
  const echo = skills.parse(await platform.svc('skill', 'list')).skills.find((skill) => skill.name === 'bench-echo');
  const seen = status.parse(await platform.svc('status'));
  const preload = (url: URL) => new URL(`?skillIds=${echo?.id}`, url);
  const mcpUrls = seen.services.flatMap(({ name, url }) =>
    /^remote-mcp/.test(name) ? [preload(new URL('/mcp', url))] : [],
  );
  return {
    ...{ dir, mcpUrl: new URL(seen.urls.mcp), mcpUrls, apiUrl: seen.urls.api, key, pid: await platform.pid() },
    side: () => platformSide(mcpUrls, key),
    remove: () => platform[Symbol.asyncDispose](),
  };
}

export async function pidOf(dir: string, service = 'backend'): Promise<number> {
  const seen = status.parse(await svc(dir, 'status'));
  const pid = seen.services.find(({ name }) => name === service)?.pid;
  if (pid === undefined || pid === null) throw new Error('The platform does not run.');
  return pid;
}

/** Where its bus is. */
export async function busOf(dir: string): Promise<string> {
  const bus = status.parse(await svc(dir, 'status')).services.find(({ name }) => name === 'nats');
  if (bus === undefined) throw new Error('The platform has no bus of its own.');
  return bus.url;
}

const benchFile = `
workspace: Default
skills:
  - name: bench-echo
    description: Says back what it is told
    tools: [everything/echo]
roles:
  - { name: Bench, skills: [bench-echo] }
`;
