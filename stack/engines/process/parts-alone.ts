import { once } from 'node:events';
import { createServer } from 'node:net';
import { isGraphNode, type Part } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { loopback, nodesOf, wishesOf } from '../../settings/ports.ts';
import { closedBus } from '../closed-bus.ts';
import { planOnThisMachine } from './site.ts';

/** The nodes of NATS with their data below `dir`, on random ports. Runtimes elsewhere and agents must not find a bus without a backend. */
export async function natsAlone(plan: Plan, dir: string): Promise<readonly Part[]> {
  const definition = closedBus(plan.definition);
  const nodes = nodesOf('nats', definition);
  const names = wishesOf(definition).flatMap(({ name, part }) => (nodes.includes(part) ? name : []));
  const free = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  const ports = { ...plan.ports, ...Object.fromEntries(free) };
  return partsIn(dir, { ...plan, definition, ports }).filter(({ service }) => service === 'nats');
}

/** No other part runs, so Dgraph may use more memory. */
const cacheLeastMb = 512;

/** The Dgraph nodes with their data below `dir`. They keep their ports, which the cluster remembers. */
export function dgraphAlone(plan: Plan, dir: string): readonly Part[] {
  const { graphdb } = plan.definition;
  const cacheMb = Math.max(graphdb.cacheMb, cacheLeastMb);
  const definition = { ...plan.definition, graphdb: { ...graphdb, cacheMb } };
  return partsIn(dir, { ...plan, definition }).filter(isGraphNode);
}

function partsIn(dir: string, plan: Plan): readonly Part[] {
  return planOnThisMachine({ ...plan.installation, dataDir: dir }, plan.definition, plan.ports).parts;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
