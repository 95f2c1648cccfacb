import { isFree } from '../ports/is-free.ts';

/**
 * Below those that systems give to whoever connects somewhere: one of these may be taken by anybody's connection between the look and the
 * moment when it is listened on.
 */
const [firstPort, portCount] = [10_000, 22_000];

/** Ports that nobody has right now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = firstPort + Math.floor(Math.random() * portCount);
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

export async function freeBusPorts(): Promise<BusPorts> {
  const [port = 0, httpPort = 0] = await freePorts(2);
  return { port, httpPort };
}

export type DgraphPorts = Readonly<Record<'dgraph-zero' | 'dgraph-alpha', number>>;

/** Ports of the two nodes of which those are free, too, that they come with. */
export async function freeDgraphPorts(): Promise<DgraphPorts> {
  for (;;) {
    const [zero = 0, alpha = 0] = await freePorts(2);
    const beside = [zero + 1000, alpha + 1000, alpha - 1000];
    const areFree = await Promise.all(beside.map((port) => isFree('127.0.0.1', port)));
    if (!areFree.includes(false)) return { 'dgraph-zero': zero, 'dgraph-alpha': alpha };
  }
}
