import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { type BackendClient, connectToBackend } from '../../backend-client.ts';
import { type Installation, installationIn } from '../../installation.ts';
import { readPlan } from '../../lifecycle/plan.ts';
import { busSeedsOf, secretFilesOf } from '../../secrets.ts';
import { eventually, everything, startNode, svc } from '../bench/processes.ts';
import { choose } from '../bench/settings.ts';
import { Clock } from './clock.ts';
import { Wire } from './wire.ts';

const status = z.object({
  state: z.string(),
  services: z.array(
    z.object({ name: z.string(), state: z.string(), health: z.string(), pid: z.number().nullable(), url: z.string() }),
  ),
  mcpServers: z.array(z.object({ status: z.string() })),
});
export type Status = z.infer<typeof status>;
const createdKey = z.object({ key: z.string() });

const clockToleranceSeconds = 5;
const clockWithinMs = 10_000;

export interface ChaosOptions {
  /** A library that lets clocks jump; without one they keep the machine's time. */
  readonly libfaketime: string | undefined;
  readonly graph: string;
  /** Whether bus and graph are clusters of the installation's own. */
  readonly clusters: boolean;
}

/** A bus that somebody else runs, as far as the installation knows, and the wire to it. */
export interface BusInHand {
  readonly server: TestServer;
  readonly wire: Wire;
}

/** An installation to be hard on: two of each that may be several; and the bus is in our hand, so that it can be taken away, or a cluster. */
export class ChaosPlatform {
  readonly folder: string;
  readonly installation: Installation;
  /** Null where it is a cluster: its nodes are parts like others. */
  readonly hand: BusInHand | null;
  /** Of the services; null where they have that of the machine. */
  readonly clock: Clock | null;
  readonly key: string;
  readonly urls: readonly string[];

  private constructor(made: Pick<ChaosPlatform, 'folder' | 'installation' | 'hand' | 'clock' | 'key' | 'urls'>) {
    this.folder = made.folder;
    this.installation = made.installation;
    this.hand = made.hand;
    this.clock = made.clock;
    this.key = made.key;
    this.urls = made.urls;
  }

  static async start({ libfaketime, graph, clusters }: ChaosOptions): Promise<ChaosPlatform> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-chaos-'));
    const dir = join(folder, 'svc');
    await svc(dir, 'init', dir, '--topology', 'distributed', '--graph', graph, '--engine', 'process', '--yes');
    const installation = installationIn(dir);
    const hand = clusters ? null : await takeInHand(installation, folder);
    if (hand === null) await choose(dir, { replicas: 2, nodes: nodesOf(graph) });
    else await choose(dir, { replicas: 2, busUrl: `nats://127.0.0.1:${hand.wire.port}` });
    await svc(dir, 'up');
    const clock = Clock.in(folder, libfaketime);
    if (clock !== null) await supervise(dir, clock.node);
    await svc(dir, 'server', 'add', 'everything', '--', process.execPath, everything, 'stdio');
    await writeFile(join(dir, 'chaos.yaml'), content);
    await svc(dir, 'apply', join(dir, 'chaos.yaml'));
    const { key } = createdKey.parse(await svc(dir, 'keys', 'create', '--name', 'chaos'));
    const { services } = status.parse(await svc(dir, 'status'));
    const urls = services.filter(({ name }) => name.startsWith('remote-mcp')).map(({ url }) => `${url}/mcp`);
    return new ChaosPlatform({ folder, installation, hand, clock, key, urls });
  }

  async status(): Promise<Status> {
    return status.parse(await svc(this.installation.dir, 'status'));
  }

  /** To a service by its name, or to the bus. */
  async signal(name: string, signal: NodeJS.Signals): Promise<void> {
    if (name === 'bus') {
      process.kill(this.inHand.server.pid, signal);
      return;
    }
    const pid = (await this.status()).services.find((service) => service.name === name)?.pid;
    if (pid === null || pid === undefined) throw new Error(`${name} does not run`);
    process.kill(pid, signal);
  }

  get inHand(): BusInHand {
    if (this.hand === null) throw new Error('the bus is a cluster, whose nodes are parts');
    return this.hand;
  }

  async restartBus(signal: NodeJS.Signals): Promise<void> {
    const { server } = this.inHand;
    await server.stop(signal);
    await server.start();
  }

  /** Where nodes of the bus tell how they are. */
  get monitoringUrls(): readonly string[] {
    if (this.hand !== null) return [this.hand.server.monitoringUrl];
    const { parts } = readPlan(this.installation);
    return parts.flatMap(({ service, readyUrl }) => (service === 'nats' ? [new URL(readyUrl).origin] : []));
  }

  get busUrls(): readonly string[] {
    if (this.hand !== null) return [this.hand.server.url];
    return readPlan(this.installation).parts.flatMap(({ service, url }) => (service === 'nats' ? [url] : []));
  }

  /** Resolves when everything says that it is well, and its MCP server is Connected. */
  async healthy(withinMs: number): Promise<Status> {
    return await eventually(
      'that all is healthy again',
      async () => {
        const seen = await this.status();
        const ill = seen.services
          .filter(({ state }) => state !== 'healthy')
          .map(({ name, state }) => `${name} ${state}`);
        const away = seen.mcpServers.filter((server) => server.status !== 'Connected');
        if (ill.length + away.length > 0) throw new Error(`${ill.join(', ')}; ${away.length} MCP servers away`);
        return seen;
      },
      withinMs,
    );
  }

  /** Resolves when every service says a time that is as much ahead of the machine's. */
  async hasTime(aheadSeconds: number): Promise<void> {
    // Dgraph is no program of Node's, which alone are told another time.
    const services = (await this.status()).services.filter(({ url }) => url.startsWith('http'));
    const says = async (url: string) => Date.parse((await fetch(`${url}/health`)).headers.get('date') ?? '');
    await eventually(
      `that the clocks are ${aheadSeconds} s ahead`,
      async () => {
        for (const { name, url } of services) {
          const ahead = (await says(url)) / 1000 - Date.now() / 1000;
          if (!(Math.abs(ahead - aheadSeconds) < clockToleranceSeconds)) throw new Error(`${name} is ${ahead} s ahead`);
        }
      },
      clockWithinMs,
    );
  }

  backend(): Promise<BackendClient> {
    return connectToBackend(this.installation);
  }

  async stop(): Promise<void> {
    await svc(this.installation.dir, 'down');
    await this.hand?.wire.stop();
    await this.hand?.server.stop();
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function takeInHand(installation: Installation, folder: string): Promise<BusInHand> {
  const server = await TestServer.start(folder, { seeds: busSeedsOf(secretFilesOf(installation)) });
  return { server, wire: await Wire.start(server.port) };
}

/** Any one of them may die. */
function nodesOf(graph: string): Readonly<Record<string, number>> {
  return { nats: 3, ...(graph === 'dgraph' ? { 'dgraph-zero': 3, 'dgraph-alpha': 3 } : {}) };
}

/** Starts it again with that Node. `svc up` chose its ports, and `svc down` ends it as usual. */
async function supervise(dir: string, node: string): Promise<void> {
  await svc(dir, 'down');
  startNode([join(import.meta.dirname, 'supervisor.ts'), dir, node]);
  await eventually('that all is healthy with a clock of its own', async () => {
    const { state } = status.parse(await svc(dir, 'status'));
    if (state !== 'running') throw new Error(state);
  });
}

const content = `
workspace: Default
skills:
  - { name: echo, description: Says back what it is told, tools: [everything/echo] }
roles:
  - { name: Chaos, skills: [echo] }
`;
