import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type BackendClient, connectToBackend } from '../../client/backend-client.ts';
import { haveDgraphImage } from '../../engines/docker/test/dgraph-image.ts';
import type { Engine } from '../../settings/choices.ts';
import { type Installation, installationIn } from '../../state/installation.ts';
import { demoServers } from '../bench/demo-servers.ts';
import { eventually, startNode, svc } from '../bench/processes.ts';
import { choose } from '../bench/settings.ts';
import { takeInHand } from './bus-in-hand.ts';
import { Clock } from './clock.ts';
import { ContainersInHand } from './containers.ts';
import type { EngineInHand } from './engine-in-hand.ts';
import type { ChaosOptions } from './options.ts';
import { ProcessesInHand } from './processes.ts';

const status = z.object({
  state: z.string(),
  services: z.array(
    // Docker does not publish what nobody outside asks.
    z.object({ name: z.string(), state: z.string(), url: z.string().nullable() }),
  ),
  urls: z.object({ mcp: z.string() }),
  mcpServers: z.array(z.object({ status: z.string() })),
});
export type Status = z.infer<typeof status>;
const createdKey = z.object({ key: z.string() });

const clockToleranceSeconds = 5;
const clockWithinMs = 10_000;

/** An installation to be hard on: two of each that may be several; and the bus is in our hand, so that it can be taken away, or a part. */
export class ChaosPlatform {
  readonly folder: string;
  readonly installation: Installation;
  readonly engine: EngineInHand;
  /** Of the services; null where they have that of the machine. */
  readonly clock: Clock | null;
  readonly key: string;
  readonly urls: readonly string[];

  private constructor(made: Pick<ChaosPlatform, 'folder' | 'installation' | 'engine' | 'clock' | 'key' | 'urls'>) {
    this.folder = made.folder;
    this.installation = made.installation;
    this.engine = made.engine;
    this.clock = made.clock;
    this.key = made.key;
    this.urls = made.urls;
  }

  static async start(options: ChaosOptions): Promise<ChaosPlatform> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-chaos-'));
    const dir = join(folder, 'svc');
    const { engine: name, graph } = options;
    await svc(dir, 'init', dir, '--topology', 'distributed', '--graph', graph, '--engine', name, '--yes');
    const installation = installationIn(dir);
    const engine = await starts[name](installation, folder, options);
    const clock = name === 'process' ? Clock.in(folder, options.faketime) : null;
    if (clock !== null) await supervise(dir, clock.node);
    await svc(dir, 'server', 'add', 'demo', '--', 'node', demoServers[name]);
    await writeFile(join(dir, 'chaos.yaml'), content);
    await svc(dir, 'apply', join(dir, 'chaos.yaml'));
    const { key } = createdKey.parse(await svc(dir, 'keys', 'create', '--name', 'chaos'));
    const { services, urls } = status.parse(await svc(dir, 'status'));
    // Each by itself where it is reached by itself, past the front.
    const each = services.flatMap(({ name, url }) =>
      name.startsWith('remote-mcp') && url !== null ? [`${url}/mcp`] : [],
    );
    return new ChaosPlatform({ folder, installation, engine, clock, key, urls: each.length > 0 ? each : [urls.mcp] });
  }

  async status(): Promise<Status> {
    return status.parse(await svc(this.installation.dir, 'status'));
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
    const services = (await this.status()).services.flatMap(({ name, url }) =>
      url?.startsWith('http') ? [{ name, url }] : [],
    );
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
    await this.engine.stop();
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

type Start = (installation: Installation, folder: string, options: ChaosOptions) => Promise<EngineInHand>;

const starts: Readonly<Record<Engine, Start>> = {
  async process(installation, folder, { graph, clusters }) {
    const { dir } = installation;
    const bus = clusters ? null : await takeInHand(installation, folder);
    const of = bus === null ? { nodes: nodesOf(graph) } : { busUrl: `nats://127.0.0.1:${bus.wire.port}` };
    await choose(dir, { replicas: 2, ...of });
    await svc(dir, 'up');
    return new ProcessesInHand(installation, bus);
  },
  async docker(installation, _folder, { graph, clusters, hang }) {
    const { dir } = installation;
    if (graph === 'dgraph') await haveDgraphImage(process.env.DOCKER_HOST ?? null);
    await choose(dir, { replicas: 2, ...(clusters ? { nodes: nodesOf(graph) } : {}) });
    await svc(dir, 'up');
    return await ContainersInHand.of(installation, { keepers: clusters ? [] : ['backend', 'nats'], hangs: hang });
  },
};

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
  - { name: echo, description: Says back what it is told, tools: [demo/echo] }
roles:
  - { name: Chaos, skills: [echo] }
`;
