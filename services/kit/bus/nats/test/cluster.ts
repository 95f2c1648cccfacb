import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../../../../stack/test/free-ports.ts';
import type { BackendSeeds } from '../../bus.ts';
import { newSeeds, TestServer } from './server.ts';

/** The secret the nodes share. */
export const routeSecret = 'of-these-nodes-only';

const nodeCount = 3;
const readyWithinMs = 30_000;

/** Three NATS servers that form one bus, as an installation configures them. Each keeps its streams in its own folder. */
export class TestCluster {
  readonly seeds: BackendSeeds;
  readonly nodes: readonly TestServer[];
  /** Each server's address for the other servers. */
  readonly routes: readonly string[];

  private constructor(seeds: BackendSeeds, nodes: readonly TestServer[], routes: readonly string[]) {
    this.seeds = seeds;
    this.nodes = nodes;
    this.routes = routes;
  }

  static async start(folder: string): Promise<TestCluster> {
    const seeds = newSeeds();
    const routes = (await freePorts(nodeCount)).map((port) => `127.0.0.1:${port}`);
    const nodes = await Promise.all(
      routes.map((ROUTE_LISTEN, index) => {
        const own = join(folder, String(index));
        mkdirSync(own);
        const ROUTES = routes.filter((route) => route !== ROUTE_LISTEN).join(',');
        const node = { NAME: `test-${index}`, ROUTE_LISTEN, ROUTES, ROUTE_SECRET: routeSecret };
        return TestServer.start(own, { seeds, node });
      }),
    );
    const cluster = new TestCluster(seeds, nodes, routes);
    await Promise.all(nodes.map((node) => cluster.healthy(node)));
    return cluster;
  }

  get urls(): readonly string[] {
    return this.nodes.map(({ url }) => url);
  }

  /** Resolves when the node has all stored data. */
  async healthy({ monitoringUrl }: TestServer): Promise<void> {
    for (const until = performance.now() + readyWithinMs; ; ) {
      const answer = await fetch(`${monitoringUrl}/healthz`);
      if (answer.status === 200) return;
      if (performance.now() > until) throw new Error(`a node is not healthy: ${await answer.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop('SIGKILL')));
  }
}
