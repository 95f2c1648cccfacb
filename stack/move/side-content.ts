import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import type { GraphContent } from '../../services/backend/graph/content.ts';
import { openGraphContent } from '../../services/backend/graph/open-content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { Secret } from '../../services/contracts/secret.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import { hasOwnBus } from '../bus/has-own-bus.ts';
import { dgraphAddressOf } from '../graph/dgraph-address.ts';
import { provisionGraph } from '../graph/provision-graph.ts';
import type { Plan } from '../lifecycle/plan.ts';
import type { Part } from '../part.ts';
import { loopback } from '../ports/port-wishes.ts';
import { readSecret } from '../secrets.ts';
import type { LeftProcess } from '../state/left-processes.ts';
import { startAlone } from './alone.ts';
import { busIn, graphIn } from './sides.ts';

/** What one side holds, of what was asked for and is there. */
export interface SideContent {
  readonly bus: BusContent | null;
  readonly graph: GraphContent | null;
}

export interface SideOptions {
  readonly plan: Plan;
  /** Where it lies: data/, or a folder of a move that stands in its place. */
  readonly dir: string;
  readonly wanted: { readonly bus: boolean; readonly graph: boolean };
  /** `fill`: what is not there is made. `read`: then it is null, and a file is only read. */
  readonly to: 'read' | 'fill';
  /** Whether its parts run already. */
  readonly isRunning?: boolean;
  readonly env: EnvRecord;
  /** Hears of each process that is started for this. */
  readonly born: (process: LeftProcess) => void;
  readonly signal: AbortSignal;
}

/** Opens a side while no backend has it open. What a process keeps runs for it, and for nobody else. */
export async function withSide<Result>(
  options: SideOptions,
  work: (content: SideContent) => Promise<Result>,
): Promise<Result> {
  const { plan, dir, to, isRunning = false, env, born, signal } = options;
  signal.throwIfAborted();
  const isThere = to === 'fill' ? { bus: true, graph: true } : { bus: hasBus(plan, dir), graph: hasGraph(plan, dir) };
  const wanted = { bus: options.wanted.bus && isThere.bus, graph: options.wanted.graph && isThere.graph };
  await using open = new AsyncDisposableStack();
  const nats = wanted.bus ? await natsAlone(plan, dir) : [];
  const parts = [...nats, ...(wanted.graph && !isRunning ? dgraphAlone(plan, dir) : [])];
  const alone = await startAlone({ plan, parts, env, born, signal });
  open.defer(() => alone.stop());
  await provision(plan, parts, signal);
  const bus = wanted.bus ? await openBus(plan, dir, nats) : null;
  open.defer(async () => bus?.close());
  const graph = wanted.graph ? await openGraph(plan, dir, to) : null;
  open.defer(async () => graph?.close());
  return await work({ bus, graph });
}

/** A platform that was never started has none; one that somebody else runs is always there. */
function hasBus({ definition }: Plan, dir: string): boolean {
  const isOurs = definition.topology === 'embedded' || hasOwnBus(definition);
  return !isOurs || existsSync(busIn(dir, definition.topology));
}

export function hasGraph({ definition: { graph, graphdb } }: Plan, dir: string): boolean {
  const isOurs = graph === 'sqlite' || graphdb.url === 'auto';
  return !isOurs || existsSync(graphIn(dir, graph));
}

/** At ports that nobody was told: neither runtimes elsewhere nor agents shall see a bus without a backend. */
async function natsAlone({ installation, parts }: Plan, dir: string): Promise<readonly Part[]> {
  const own = parts.filter(({ service }) => service === 'nats');
  return await Promise.all(
    own.map(async (part) => {
      const [port, httpPort] = [await freePort(), await freePort()];
      const listening = { LISTEN: `${loopback}:${port}`, HTTP_LISTEN: `${loopback}:${httpPort}`, TLS: '' };
      const store = join(dir, relative(installation.dataDir, part.variables.STORE_DIR ?? ''));
      return {
        ...part,
        url: `nats://${loopback}:${port}`,
        readyUrl: `http://${loopback}:${httpPort}/healthz`,
        variables: { ...part.variables, ...listening, STORE_DIR: store },
      };
    }),
  );
}

/** Nothing else runs meanwhile, so that it may take more before it collects its garbage. */
const cacheLeastMb = 512;

/** At its own ports: its nodes remember each other's. Nobody else reaches them. */
function dgraphAlone({ installation, parts }: Plan, dir: string): readonly Part[] {
  const own = parts.filter(({ service }) => service === 'dgraph-zero' || service === 'dgraph-alpha');
  return own.map((part) => {
    const { DATA = '', CACHE_MB } = part.variables;
    const cache = CACHE_MB === undefined ? {} : { CACHE_MB: String(Math.max(Number(CACHE_MB), cacheLeastMb)) };
    const lies = join(relative(installation.dir, dir), relative('data', DATA));
    return { ...part, variables: { ...part.variables, ...cache, DATA: lies } };
  });
}

async function provision({ secrets }: Plan, parts: readonly Part[], signal: AbortSignal): Promise<void> {
  const data = parts.find(({ service }) => service === 'dgraph-alpha');
  if (data !== undefined) await provisionGraph({ url: new URL(data.readyUrl).origin, secrets, signal });
}

async function openBus(plan: Plan, dir: string, nats: readonly Part[]): Promise<BusContent> {
  const { definition, environment } = plan;
  const keyMaxAgeMs = Number(environment['remote-mcp'].SVC_SESSION_IDLE_TIMEOUT_MS);
  if (definition.topology === 'embedded') {
    return await openBusContent({ engine: 'sqlite', file: busIn(dir, 'embedded'), keyMaxAgeMs });
  }
  const isOurs = definition.bus.servers === 'auto';
  const servers = definition.bus.servers === 'auto' ? nats.map(({ url }) => url) : definition.bus.servers;
  const caPath = isOurs ? null : (environment.backend.BUS_CA_PATH ?? null);
  return await openBusContent({ engine: 'nats', servers, caPath, seeds: seedsOf(plan), keyMaxAgeMs });
}

async function openGraph(plan: Plan, dir: string, to: SideOptions['to']): Promise<GraphContent> {
  if (plan.definition.graph === 'dgraph') return await openGraphContent({ engine: 'dgraph', ...dgraphAddressOf(plan) });
  return await openGraphContent({ engine: 'sqlite', file: graphIn(dir, 'sqlite'), readOnly: to === 'read' });
}

function seedsOf({ secrets }: Plan) {
  return {
    callout: new Secret(readSecret(secrets.busCalloutSeed)),
    system: new Secret(readSecret(secrets.busSystemSeed)),
    issuer: new Secret(readSecret(secrets.busIssuerSeed)),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
