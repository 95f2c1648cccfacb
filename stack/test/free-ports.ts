import { isFree } from '../machine/is-free.ts';

/**
 * Below the ports that systems give to outgoing connections. A connection could take such a port between the check and
 * the listen.
 */
const [firstPort, portCount] = [10_000, 22_000];
/**
 * Concurrent suites search in different ranges: a port that one suite has found and not yet used looks free to the
 * others.
 */
const shares = 4;
const share = Number(process.env.VITEST_POOL_ID ?? 0) % shares;

/** Ports that were found here before, used or not yet. */
const found = new Set<number>();

/** Ports that are free now, all different, and not among those found before. */
export function freePorts(count: number): Promise<readonly number[]> {
  return findFree(() => Array.from({ length: count }, anyPort));
}

async function findFree(choose: () => readonly number[]): Promise<readonly number[]> {
  for (;;) {
    const ports = choose();
    if (new Set(ports).size < ports.length || ports.some((port) => found.has(port))) continue;
    // This precedes every await: a concurrent caller may look at the same time.
    for (const port of ports) found.add(port);
    const free = await Promise.all(ports.map((port) => isFree('127.0.0.1', port)));
    if (!free.includes(false)) return ports;
  }
}

function anyPort(): number {
  return firstPort + Math.floor(((share + Math.random()) * portCount) / shares);
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

export type ServicePorts = Readonly<Record<'backend' | 'remote-mcp' | 'runtime' | 'frontend', number>>;

export async function freeServicePorts(): Promise<ServicePorts> {
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = await freePorts(4);
  return { backend, 'remote-mcp': remoteMcp, runtime, frontend };
}

export type BusPorts = Readonly<Record<'port' | 'httpPort', number>>;

/** First ports, followed by free ports for further nodes; by default, for a bus that may grow to three nodes. */
export async function freeBusPorts(nodes = 3): Promise<BusPorts> {
  const ports = await findFree(() => [anyPort(), anyPort()].flatMap((first) => inRow(first, nodes)));
  const [port = 0, httpPort = 0] = [ports[0], ports[nodes]];
  return { port, httpPort };
}

function inRow(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

export type DgraphPorts = Readonly<Record<'dgraph-zero' | 'dgraph-alpha', number>>;

/** Ports of the first nodes. Their companion ports and the ports of further nodes are free too. */
export async function freeDgraphPorts(nodes = 1): Promise<DgraphPorts> {
  const ports = await findFree(() => {
    const [zero, alpha] = [anyPort(), anyPort()];
    return [zero, alpha, zero + 1000, alpha + 1000, alpha - 1000].flatMap((first) => inRow(first, nodes));
  });
  const [zero = 0, alpha = 0] = [ports[0], ports[nodes]];
  return { 'dgraph-zero': zero, 'dgraph-alpha': alpha };
}
