import { once } from 'node:events';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import type { Plan } from '../../lifecycle/plan.ts';
import type { Part } from '../../part.ts';
import { loopback } from '../../ports/port-wishes.ts';

/**
 * The nodes of NATS with their data below `dir`, at ports that nobody was told: neither runtimes elsewhere nor agents shall see a bus without
 * a backend.
 */
export async function natsAlone({ installation, parts, secrets }: Plan, dir: string): Promise<readonly Part[]> {
  const moved = await Promise.all(
    parts
      .filter(({ service }) => service === 'nats')
      .map(async (part) => {
        const [port, routePort] = await Promise.all([freePort(), freePort()]);
        return { part, port, route: `${loopback}:${routePort}` };
      }),
  );
  return moved.map(({ part, port, route }) => {
    const { HTTP_LISTEN: _, ...variables } = part.variables;
    const url = `nats://${loopback}:${port}`;
    const others = moved.filter((other) => other.part !== part).map((other) => other.route);
    return {
      ...part,
      url,
      ready: { kind: 'nats', url, seedFile: secrets.busSystemSeed },
      otherUrls: [],
      variables: {
        ...variables,
        ...{ LISTEN: `${loopback}:${port}`, TLS: '' },
        STORE_DIR: join(dir, relative(installation.dataDir, part.variables.STORE_DIR ?? '')),
        ...(others.length === 0 ? {} : { ROUTE_LISTEN: route, ROUTES: others.join(',') }),
      },
    };
  });
}

/** Nothing else runs meanwhile, so that it may take more before it collects its garbage. */
const cacheLeastMb = 512;

/** The nodes of Dgraph with their data below `dir`, at their own ports: they remember each other's. Nobody else reaches them. */
export function dgraphAlone({ installation, parts }: Plan, dir: string): readonly Part[] {
  const own = parts.filter(({ service }) => service === 'dgraph-zero' || service === 'dgraph-alpha');
  return own.map((part) => {
    const { DATA = '', CACHE_MB } = part.variables;
    const cache = CACHE_MB === undefined ? {} : { CACHE_MB: String(Math.max(Number(CACHE_MB), cacheLeastMb)) };
    const lies = join(relative(installation.dir, dir), relative('data', DATA));
    return { ...part, variables: { ...part.variables, ...cache, DATA: lies } };
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
