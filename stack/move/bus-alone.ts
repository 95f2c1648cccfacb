import { once } from 'node:events';
import { createServer } from 'node:net';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { RunningPart } from '../engines/process/part-runner.ts';
import { runAsProcesses } from '../engines/process/parts-as-processes.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { ownPrograms } from '../engines/process/process-plan.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import type { Part } from '../part.ts';
import { loopback } from '../ports/port-wishes.ts';
import type { ProcessIdentity } from '../state/process-identity.ts';

export interface BusAloneOptions {
  /** With NATS of ours among its parts. */
  readonly plan: Plan;
  readonly env: EnvRecord;
  /** Where one node keeps what it is given; without it each has its own folder. */
  readonly storeDir?: string;
  /** Called before each of them runs, so that it can be found whatever happens to this process. */
  readonly born: (process: ProcessIdentity) => void;
  readonly signal: AbortSignal;
}

export interface BusAlone {
  readonly servers: readonly string[];
  stop(): Promise<void>;
}

/** Runs the nodes of NATS without the rest of the platform, where nobody else looks for them: not at the ports that runtimes and services know. */
export async function startBusAlone({ plan, env, storeDir, born, signal }: BusAloneOptions): Promise<BusAlone> {
  const nodes = await movedAside(plan.parts.filter(({ service }) => service === 'nats'));
  const runner = runAsProcesses({ plan, env, taken: new Map(), programs: ownPrograms(env), patience: usualPatience });
  const started: RunningPart[] = [];
  const stop = async () => {
    await Promise.all(started.map((node) => node.stop('hurry')));
    await runner.close();
  };
  try {
    for (const { part } of nodes) {
      const own = storeDir === undefined ? part.variables : { ...part.variables, STORE_DIR: storeDir };
      started.push(await runner.start({ ...part, variables: own }, { born }));
    }
    await Promise.all(started.map((node) => becomesReady(node, signal)));
    return { servers: nodes.map(({ server }) => server), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The same nodes on ports that nobody was told. */
async function movedAside(nodes: readonly Part[]) {
  const moved = await Promise.all(
    nodes.map(async (part) => {
      const [port, httpPort, routePort] = await Promise.all([freePort(), freePort(), freePort()]);
      return { part, port, httpPort, route: `${loopback}:${routePort}` };
    }),
  );
  return moved.map(({ part, port, httpPort, route }) => {
    const others = moved.filter((other) => other.part !== part).map((other) => other.route);
    const variables = {
      ...part.variables,
      ...{ LISTEN: `${loopback}:${port}`, HTTP_LISTEN: `${loopback}:${httpPort}`, TLS: '' },
      ...(others.length === 0 ? {} : { ROUTE_LISTEN: route, ROUTES: others.join(',') }),
    };
    const readyUrl = `http://${loopback}:${httpPort}/healthz`;
    return { part: { ...part, readyUrl, variables }, server: `nats://${loopback}:${port}` };
  });
}

async function becomesReady({ readyUrl, ended }: RunningPart, signal: AbortSignal): Promise<void> {
  const failed = ended.then(({ reason }) => {
    throw new SvcError('unavailable', `nats-server ${reason}.`, { hint: 'Read what it wrote: svc logs nats' });
  });
  await Promise.race([waitUntilReady(readyUrl, { timeoutMs: usualPatience.readyMs, signal }), failed]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
