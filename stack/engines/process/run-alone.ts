import { once } from 'node:events';
import { createServer } from 'node:net';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import type { Alone } from '../../content/place.ts';
import { graphUrlOf } from '../../parts/dgraph.ts';
import { isGraphNode, type Part } from '../../parts/part.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { loopback, nodesOf, wishesOf } from '../../settings/ports.ts';
import { endAlone, recordAlone } from '../../state/left-processes.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';
import { closedBus } from '../closed-bus.ts';
import { becomesReady, type RunningPart } from './part-runner.ts';
import { runAsProcesses } from './parts-as-processes.ts';
import { usualPatience } from './patience.ts';
import { ownPrograms } from './process-plan.ts';
import { planOnThisMachine } from './site.ts';

export interface ProcessesAlone {
  readonly plan: Plan;
  /** The nodes to run. Nodes of Dgraph that lost their data do not run. */
  readonly bus: boolean;
  readonly graph: boolean;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/** Runs nodes as processes, in the same way as the platform does, and records them. Ends first what a killed command left of them. */
export async function runProcessesAlone(options: ProcessesAlone): Promise<Alone> {
  const { plan } = options;
  await endAlone(plan.installation);
  const parts = await partsAlone(options);
  const stop = await startAll(parts, options);
  const nats = parts.filter(({ service }) => service === 'nats');
  const alphas = parts.filter(({ service }) => service === 'dgraph-alpha');
  const graph = {
    urls: alphas.map(({ name }) => graphUrlOf(name, plan.site)),
    servers: alphas.map(({ url }) => new URL(url).host),
  };
  return { bus: nats.map(({ url }) => url), graph: alphas.length === 0 ? null : graph, stop };
}

async function startAll(parts: readonly Part[], { plan, env, signal }: ProcessesAlone): Promise<Alone['stop']> {
  const runner = runAsProcesses({ plan, env, programs: ownPrograms(env), patience: usualPatience });
  const running: RunningPart[] = [];
  const startOne = async ({ part }: { readonly part: Part }) => {
    const { name } = part;
    const born = (process: ProcessIdentity) => recordAlone(plan.installation, { name, process });
    const started = await runner.start(part, { born, signal });
    running.push(started);
    await becomesReady(part, started, { timeoutMs: part.limits.startMaxMs, signal }).catch((error: unknown) => {
      throw notReady(name, toSvcError(error));
    });
  };
  const stop = async () => {
    for (const part of running.toReversed()) await part.stop('drain');
    await runner.close();
    await endAlone(plan.installation);
  };
  try {
    const starts = parts.map((part) => ({ part }));
    await startInOrder(starts, startOne);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

function notReady(name: string, cause: SvcError): SvcError {
  const hint = `Read its log: svc logs ${name}`;
  return new SvcError(cause.code, `${name} failed to get ready: ${cause.message.replace(/\.$/, '')}.`, { hint, cause });
}

/** No other part runs, so Dgraph may use more memory. */
const cacheLeastMb = 512;

/**
 * Nodes of NATS get random ports, because runtimes elsewhere and agents must not find a bus without a backend. Nodes of Dgraph keep their
 * ports, which the cluster remembers.
 */
async function partsAlone({ plan, bus, graph }: ProcessesAlone): Promise<readonly Part[]> {
  const { installation } = plan;
  const { graphdb } = plan.definition;
  const cacheMb = Math.max(graphdb.cacheMb, cacheLeastMb);
  const definition = { ...closedBus(plan.definition), graphdb: { ...graphdb, cacheMb } };
  const nodes = nodesOf('nats', definition);
  const wishes = wishesOf(definition).filter(({ part }) => nodes.includes(part));
  const free = await Promise.all(wishes.map(async ({ name }) => [name, await freePort()] as const));
  const { parts } = planOnThisMachine(installation, definition, { ...plan.ports, ...Object.fromEntries(free) });
  const isWhole = ({ name }: Part) => describeNodeLoss(installation, name) === null;
  return parts.filter((part) => (bus && part.service === 'nats') || (graph && isGraphNode(part) && isWhole(part)));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
