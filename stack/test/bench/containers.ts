import Docker from 'dockerode';
import { haveDgraphImage } from '../../engines/docker/test/dgraph-image.ts';
import type { Engine, Graph } from '../../settings/choices.ts';
import type { Platform } from '../platform.ts';
import { demoServers, initPlatform } from './bench-platform.ts';
import { measureUp } from './commands.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { add, platformSide } from './sides.ts';
import { oneSession, perSide, ratio } from './speed.ts';

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
  await using inContainers = await startDemo('docker');
  await using asProcesses = await startDemo('process');
  const calls = await perSide([inContainers.side, asProcesses.side], oneSession);
  const contained = median(calls.docker ?? []);
  const up = await measureUp(inContainers, upMaxMs);
  const idle = await idleMb(inContainers.platform);
  return [
    atMost(
      'containers, one session: median against processes',
      ratio(calls, 'docker', 'process'),
      callRatioMax,
      '×',
      calls,
    ),
    reported('containers, one session: median', contained, 'ms'),
    ...up.map((figure) => ({ ...figure, what: `containers, images present: ${figure.what}` })),
    ...withDgraph,
    atMost('image of the services', await imageMb(host), imageMaxMb, 'MB'),
    atMost('memory of the idle platform in containers, without NATS', idle, memoryMaxMb, 'MB'),
  ];
}

async function measureWithDgraph(host: string): Promise<Figure[]> {
  if (!(await haveDgraphImage(host))) {
    process.stderr.write('without an image of Dgraph or dgraph on the path, containers with Dgraph are not measured\n');
    return [];
  }
  await using demo = await startDemo('docker', 'dgraph');
  const up = await measureUp(demo, upWithDgraphMaxMs);
  return up.map((figure) => ({ ...figure, what: `containers with Dgraph, images present: ${figure.what}` }));
}

async function startDemo(engine: Engine, graph: Graph = 'sqlite') {
  const platform = await initPlatform({ topology: 'distributed', engine, graph });
  await platform.up();
  await platform.addServer('demo', ['node', demoServers[engine]]);
  const skill = await platform.addSkill('add', ['demo/add']);
  await platform.addRole('Demo', ['add']);
  const key = await platform.addKey('bench');
  const mcpUrl = new URL(`?skillIds=${skill}`, (await platform.svc('status')).urls.mcp);
  const side = platformSide([mcpUrl], key, { name: engine, call: add });
  return { platform, mcpUrl, key, side, [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose]() };
}

/** The largest of ours: those of earlier versions are as large. */
async function imageMb(host: string): Promise<number> {
  const docker = new Docker({ socketPath: host.replace(/^unix:\/\//, ''), host: undefined, protocol: 'http' });
  const images = await docker.listImages({ filters: { reference: ['svc-platform'] } });
  return Math.max(...images.map(({ Size }) => Size)) / 1e6;
}

async function idleMb(platform: Platform): Promise<number> {
  const services = await platform.services();
  return [...services.values()].reduce((sum, { name, memoryBytes }) => {
    return name === 'nats' ? sum : sum + (memoryBytes ?? 0) / megabyte;
  }, 0);
}
