import Docker from 'dockerode';
import { haveDgraphImage } from '../../engines/docker/test/dgraph-image.ts';
import type { Engine, Graph } from '../../settings/choices.ts';
import type { Platform } from '../platform.ts';
import { type BenchPlatform, demoServers, initPlatform } from './bench-platform.ts';
import { measureUp } from './commands.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { openCaller, type Side, targetOf } from './sides.ts';
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
        await idleMb(inContainers.platform),
        memoryMaxMb,
        'MB',
      ),
    ];
  } finally {
    await inContainers.platform[Symbol.asyncDispose]();
    await asProcesses.platform[Symbol.asyncDispose]();
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
    await demo.platform[Symbol.asyncDispose]();
  }
}

type Demo = Pick<BenchPlatform, 'platform' | 'mcpUrl' | 'key'> & { readonly side: Side };

async function startDemo(engine: Engine, graph: Graph = 'sqlite'): Promise<Demo> {
  const platform = await initPlatform({ topology: 'distributed', engine, graph });
  await platform.up();
  await platform.addServer('demo', ['node', demoServers[engine]]);
  const skill = await platform.addSkill('add', ['demo/add']);
  await platform.addRole('Demo', ['add']);
  const key = await platform.addKey('bench');
  const mcpUrl = new URL(`?skillIds=${skill}`, (await platform.svc('status')).urls.mcp);
  const add = { name: 'add', arguments: { a: 20, b: 22 }, expected: '42' };
  const callers = (count: number) =>
    Promise.all(Array.from({ length: count }, () => openCaller(targetOf(mcpUrl, key), add)));
  return { platform, mcpUrl, key, side: { name: engine, callers, stop: () => undefined } };
}

/** The largest of ours: those of earlier versions are as large. */
async function imageMb(host: string): Promise<number> {
  const docker = new Docker({ socketPath: host.replace(/^unix:\/\//, ''), host: undefined, protocol: 'http' });
  const images = await docker.listImages({ filters: { reference: ['svc-platform'] } });
  return Math.max(...images.map(({ Size }) => Size)) / 1e6;
}

async function idleMb(platform: Platform): Promise<number> {
  const { services } = await platform.svc('status');
  return services.reduce((sum: number, { name, memoryBytes }: { name: string; memoryBytes: number }) => {
    return name === 'nats' ? sum : sum + memoryBytes / megabyte;
  }, 0);
}
