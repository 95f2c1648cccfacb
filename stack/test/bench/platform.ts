import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { everything, repository, svc } from './processes.ts';
import { choose } from './settings.ts';
import { platformSide, type Side } from './sides.ts';

/** An installation of its own for the bench: the demo, server-everything, a skill that echoes, a role and a key. */
export interface Platform {
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
const createdKey = z.object({ key: z.string() });
const skills = z.object({ skills: z.array(z.object({ id: z.string(), name: z.string() })) });

export interface PlatformOptions {
  /** Each service in a process of its own, so many of those that may be several, on a real bus. */
  readonly replicas?: number;
  readonly graph?: 'sqlite' | 'dgraph';
}

export async function startPlatform({ replicas, graph = 'sqlite' }: PlatformOptions = {}): Promise<Platform> {
  const dir = join(await mkdtemp(join(tmpdir(), 'svc-bench-')), 'svc');
  const topology = replicas === undefined ? 'embedded' : 'distributed';
  await svc(dir, 'init', dir, '--yes', '--topology', topology, '--graph', graph);
  await choose(dir, { replicas: replicas ?? 1 });
  await svc(dir, 'up');
  const file = join(dir, 'bench.yaml');
  await writeFile(file, benchFile);
  // The demo has an echo too: whose is listed first has the bare name.
  await svc(dir, 'server', 'add', 'everything', '--', process.execPath, everything, 'stdio');
  await svc(dir, 'apply', file, join(repository, 'templates/demo/platform.yaml'));
  const { key } = createdKey.parse(await svc(dir, 'keys', 'create', '--name', 'bench'));
  const echo = skills.parse(await svc(dir, 'skill', 'list')).skills.find((skill) => skill.name === 'bench-echo');
  const seen = status.parse(await svc(dir, 'status'));
  const mcpUrl = new URL(seen.urls.mcp);
  const preload = (url: URL) => new URL(`?skillIds=${echo?.id}`, url);
  const mcpUrls = seen.services.flatMap(({ name, url }) =>
    /^remote-mcp/.test(name) ? [preload(new URL('/mcp', url))] : [],
  );
  return {
    dir,
    mcpUrl,
    mcpUrls,
    apiUrl: seen.urls.api,
    key,
    pid: await pidOf(dir),
    side: () => platformSide(mcpUrls, key),
    async remove() {
      await svc(dir, 'down');
      await rm(join(dir, '..'), { recursive: true, force: true });
    },
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
