import Docker from 'dockerode';
import { z } from 'zod';
import { haveDgraphImage } from '../../engines/docker/test/dgraph-image.ts';
import type { Engine, Graph } from '../../settings/choices.ts';
import { Platform } from '../platform.ts';
import { measureUp } from './commands.ts';
import { demoServers } from './demo-servers.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { environment, svc } from './processes.ts';
import { openCaller, type Side } from './sides.ts';
import { oneSession, perSide } from './speed.ts';

const upMaxMs = 15_000;
/** Of both nodes of Dgraph, elections included. */
const upWithDgraphMaxMs = 15_000;
const imageMaxMb = 250;
const memoryMaxMb = 350;
const callRatioMax = 1.2;
const megabyte = 1_048_576;

/** The same platform in containers and in processes. */
export async function measureContainers(): Promise<Figure[]> {
  const host = process.env.DOCKER_HOST;
  if (host === undefined) {
    process.stderr.write('without DOCKER_HOST, such as unix:///var/run/docker.sock, containers are not measured\n');
    return [];
  }
  const withDgraph = await measureWithDgraph(host);
  const inContainers = await startDemo('docker');
  const asProcesses = await startDemo('process');
  try {
    const calls = await perSide([inContainers.side, asProcesses.side], oneSession);
    const [contained, plain] = [median(calls.docker ?? []), median(calls.process ?? [])];
    const up = await measureUp(inContainers, upMaxMs);
    return [
      atMost('containers, one session: median against processes', contained / plain, callRatioMax, '×', calls),
      reported('containers, one session: median', contained, 'ms'),
      ...up.map((figure) => ({ ...figure, what: `containers, images present: ${figure.what}` })),
      ...withDgraph,
      atMost('image of the services', await imageMb(host), imageMaxMb, 'MB'),
      atMost(
        'memory of the idle platform in containers, without NATS',
        await idleMb(inContainers.dir),
        memoryMaxMb,
        'MB',
      ),
    ];
  } finally {
    await inContainers.remove();
    await asProcesses.remove();
  }
}

async function measureWithDgraph(host: string): Promise<Figure[]> {
  if (!(await haveDgraphImage(host))) {
    process.stderr.write('without an image of Dgraph or dgraph on the path, containers with Dgraph are not measured\n');
    return [];
  }
  const demo = await startDemo('docker', 'dgraph');
  try {
    const up = await measureUp(demo, upWithDgraphMaxMs);
    return up.map((figure) => ({ ...figure, what: `containers with Dgraph, images present: ${figure.what}` }));
  } finally {
    await demo.remove();
  }
}

interface Demo {
  readonly dir: string;
  readonly mcpUrl: URL;
  readonly key: string;
  readonly side: Side;
  remove(): Promise<void>;
}

const made = z.object({ id: z.string() });
const createdKey = z.object({ key: z.string() });
const services = z.array(z.object({ name: z.string(), memoryBytes: z.number().nullable() }));
const status = z.object({ urls: z.object({ mcp: z.string() }), services });

async function startDemo(engine: Engine, graph: Graph = 'sqlite'): Promise<Demo> {
  const env = { PATH: environment.PATH ?? '', DOCKER_HOST: process.env.DOCKER_HOST ?? '' };
  const platform = await Platform.init({ topology: 'distributed', engine, graph, env });
  const { dir } = platform.installation;
  await platform.up();
  await platform.addServer('demo', ['node', demoServers[engine]]);
  const skill = made.parse(await svc(dir, 'skill', 'create', 'add', '--tool', 'demo/add'));
  await svc(dir, 'role', 'create', 'Demo', '--skill', 'add');
  const { key } = createdKey.parse(await svc(dir, 'keys', 'create', '--name', 'bench'));
  const mcpUrl = new URL(`?skillIds=${skill.id}`, status.parse(await svc(dir, 'status')).urls.mcp);
  const headers = { authorization: `Bearer ${key}` };
  const target = { port: Number(mcpUrl.port), path: `${mcpUrl.pathname}${mcpUrl.search}`, headers };
  const add = { name: 'add', arguments: { a: 20, b: 22 }, expected: '42' };
  const callers = (count: number) => Promise.all(Array.from({ length: count }, () => openCaller(target, add)));
  return {
    ...{ dir, mcpUrl, key },
    side: { name: engine, callers, stop: () => undefined },
    remove: () => platform[Symbol.asyncDispose](),
  };
}

/** The largest of ours: those of earlier versions are as large. */
async function imageMb(host: string): Promise<number> {
  const docker = new Docker({ socketPath: host.replace(/^unix:\/\//, ''), host: undefined, protocol: 'http' });
  const images = await docker.listImages({ filters: { reference: ['svc-platform'] } });
  return Math.max(...images.map(({ Size }) => Size)) / 1e6;
}

async function idleMb(dir: string): Promise<number> {
  const { services: all } = status.parse(await svc(dir, 'status'));
  const ours = all.filter(({ name }) => name !== 'nats');
  return ours.reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? Number.NaN), 0) / megabyte;
}
