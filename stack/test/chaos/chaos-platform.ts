import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Status } from '../../lifecycle/platform-status.ts';
import type { Engine } from '../../settings/choices.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import { addDemo, initPlatform, missingFor } from '../bench/bench-platform.ts';
import { eventually, startNode } from '../bench/processes.ts';
import type { Platform } from '../platform.ts';
import { clockIn } from './clock.ts';
import { takeContainers } from './containers.ts';
import type { EngineInHand } from './engine-in-hand.ts';
import type { ChaosOptions } from './options.ts';
import { takeInHand, takeProcesses } from './processes.ts';

const clockToleranceSeconds = 5;
const clockWithinMs = 10_000;

export type ChaosPlatform = Awaited<ReturnType<typeof startChaosPlatform>>;

/**
 * The platform under chaos, with two replicas of each part that allows them. The chaos runs the bus, so that it can
 * take it away.
 */
export async function startChaosPlatform(options: ChaosOptions) {
  const { engine: name, graph, clusters } = options;
  const missing = await missingFor(options);
  if (missing !== null) throw new Error(missing);
  const platform = await initPlatform({
    ...{ topology: 'distributed', graph, engine: name },
    replicas: { 'remote-mcp': 2, runtime: 2, ...(clusters && nodesOf(graph)) },
  });
  const engine = await starts[name](platform, options);
  /** The clock of the services; null where they use the machine's clock. */
  const clock = name === 'process' ? clockIn(platform.folder, options.faketime || undefined) : null;
  if (clock !== null) await supervise(platform, clock.node);
  const key = await addDemo(platform, name);
  const status = (): Promise<Status> => platform.svc('status');
  const { services } = await status();
  // Each remote-mcp at its own address where it has one, past the front.
  const each = services.flatMap(({ name, url }) => (name.startsWith('remote-mcp') && url ? [`${url}/mcp`] : []));

  /** Resolves when all services are healthy, and all MCP servers are Connected. */
  async function healthy(withinMs: number): Promise<void> {
    const look = async () => {
      const { services, mcpServers } = await status();
      const ill = services.filter(({ state }) => state !== 'healthy').map(({ name, state }) => `${name} ${state}`);
      const away = mcpServers.filter((server) => server.status !== 'Connected');
      if (ill.length + away.length > 0) throw new Error(`${ill.join(', ')}; ${away.length} MCP servers away`);
    };
    await eventually('that all is healthy again', look, withinMs);
  }

  /** Resolves when the clock of every service is this far ahead of the machine's clock. */
  async function hasTime(aheadSeconds: number): Promise<void> {
    // Dgraph is not a program of Node, and only those get another time.
    const nodeServices = (await status()).services.filter(({ url }) => url?.startsWith('http'));
    const look = async () => {
      for (const { name, url } of nodeServices) {
        const serviceTime = Date.parse((await fetch(`${url}/health`)).headers.get('date') ?? '');
        const ahead = (serviceTime - Date.now()) / 1000;
        if (!(Math.abs(ahead - aheadSeconds) < clockToleranceSeconds)) throw new Error(`${name} is ${ahead} s ahead`);
      }
    };
    await eventually(`that the clocks are ${aheadSeconds} s ahead`, look, clockWithinMs);
  }

  async function stop(): Promise<void> {
    await platform.svc('down');
    await engine.stop();
  }

  const urls = each.length > 0 ? each : [platform.mcpUrl];
  return { platform, engine, clock, key, urls, parts: services.map(({ name }) => name), healthy, hasTime, stop };
}

type Start = (platform: Platform, options: ChaosOptions) => Promise<EngineInHand>;

const starts: Readonly<Record<Engine, Start>> = {
  async process(platform, { clusters }) {
    const { installation, folder, busPorts } = platform;
    const bus = clusters ? null : await takeInHand(installation, folder);
    // The monitoring of the bus shows its remaining connections and subscriptions.
    const yaml = readFileSync(installation.definitionFile, 'utf8');
    const edited =
      bus === null
        ? replaceScalar(yaml, ['bus', 'httpPort'], String(busPorts.httpPort))
        : replaceScalar(yaml, ['bus', 'servers'], `[nats://127.0.0.1:${bus.wire.port}]`);
    writeFileSync(installation.definitionFile, edited);
    await platform.up();
    return takeProcesses(platform, bus);
  },
  async docker(platform, { clusters, hang }) {
    await platform.up();
    const keepers = clusters ? [] : ['backend', 'nats'];
    return await takeContainers(platform, { keepers, hangs: hang });
  },
};

/** With these numbers of nodes, any one node may die. */
function nodesOf(graph: string): Readonly<Record<string, number>> {
  return { nats: 3, ...(graph === 'dgraph' ? { 'dgraph-zero': 3, 'dgraph-alpha': 3 } : {}) };
}

/** Starts the platform again with that Node. `svc up` chose its ports, and `svc down` ends it as usual. */
async function supervise(platform: Platform, node: string): Promise<void> {
  await platform.svc('down');
  startNode([join(import.meta.dirname, 'supervisor.ts'), platform.installation.dir, node]);
  await platform.running();
}
