import { isFree } from '../ports/is-free.ts';

/**
 * Below those that systems give to whoever connects somewhere: one of these may be taken by anybody's connection between the look and the
 * moment when it is listened on.
 */
const [firstPort, portCount] = [10_000, 22_000];
/** Suites that run at the same time look in different places: what one of them has found and not yet used is free to all others. */
const shares = 4;
const share = Number(process.env.VITEST_POOL_ID ?? 0) % shares;

/** Ports that nobody has right now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = firstPort + Math.floor(((share + Math.random()) * portCount) / shares);
    if (await isFree('127.0.0.1', port)) found.add(port);
  }
  return [...found];
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

/** Ports after which as many are free as further nodes take. */
export async function freeBusPorts(nodes = 1): Promise<BusPorts> {
  for (;;) {
    const [port = 0, httpPort = 0] = await freePorts(2);
    if (await areFree([...inRow(port, nodes), ...inRow(httpPort, nodes)])) return { port, httpPort };
  }
}

function inRow(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const free = await Promise.all(ports.map((port) => isFree('127.0.0.1', port)));
  return !free.includes(false) && new Set(ports).size === ports.length;
}

export type DgraphPorts = Readonly<Record<'dgraph-zero' | 'dgraph-alpha', number>>;

/** Ports of the first nodes of which those are free, too, that they come with, and those of further nodes. */
export async function freeDgraphPorts(nodes = 1): Promise<DgraphPorts> {
  for (;;) {
    const [zero = 0, alpha = 0] = await freePorts(2);
    const firsts = [zero, zero + 1000, alpha, alpha + 1000, alpha - 1000];
    if (await areFree(firsts.flatMap((port) => inRow(port, nodes))))
      return { 'dgraph-zero': zero, 'dgraph-alpha': alpha };
  }
}
