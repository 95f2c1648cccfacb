import { existsSync } from 'node:fs';
import { type OpenedBlobs, openBlobsContent } from '../../services/backend/files/open-content.ts';
import type { GraphContent } from '../../services/backend/graph/content.ts';
import { openGraphContent } from '../../services/backend/graph/open-content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import { keepsBlobs, keyMaxAgeOf } from '../bus/bus-folders.ts';
import { hasOwnBus } from '../bus/has-own-bus.ts';
import { runProcessesAlone } from '../engines/process/run-alone.ts';
import { dgraphAddressOf } from '../graph/dgraph-address.ts';
import { provisionGraph } from '../graph/provision-graph.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { busSeedsOf } from '../secrets.ts';
import type { LeftProcess } from '../state/left-processes.ts';
import { blobsIn, busIn, graphIn } from './sides.ts';

/** What one side holds, of what was asked for and is there. */
export interface SideContent {
  readonly bus: BusContent | null;
  readonly graph: GraphContent | null;
  readonly blobs: OpenedBlobs['blobs'] | null;
}

/** What is meant of a side. */
export type Wanted = Readonly<Record<keyof SideContent, boolean>>;

export interface SideOptions {
  readonly plan: Plan;
  /** Where it lies: data/, or a folder of a move that stands in its place. */
  readonly dir: string;
  /** Where its bus lies, if elsewhere: one that both sides have stays where it is. */
  readonly busDir?: string;
  readonly wanted: Wanted;
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
  const { plan, dir, busDir = dir, to, isRunning = false, env, born, signal } = options;
  signal.throwIfAborted();
  const wanted = to === 'fill' ? options.wanted : thereOf(options);
  await using open = new AsyncDisposableStack();
  const parts = {
    busDir: wanted.bus || (wanted.blobs && keepsBlobs(plan)) ? busDir : null,
    graphDir: wanted.graph && !isRunning ? dir : null,
  };
  const alone = await runProcessesAlone({ plan, ...parts, env, born, signal });
  open.defer(() => alone.stop());
  if (alone.graph !== null) await provisionGraph({ urls: alone.graph.urls, secrets: plan.secrets, signal });
  const nats = alone.bus;
  const bus = wanted.bus ? await openBus(plan, busDir, nats) : null;
  open.defer(async () => bus?.close());
  const graph = wanted.graph ? await openGraph(plan, dir, to) : null;
  open.defer(async () => graph?.close());
  const blobs = wanted.blobs ? open.use(await openBlobs(plan, dir, nats)).blobs : null;
  return await work({ bus, graph, blobs });
}

function thereOf({ plan, dir, busDir = dir, wanted }: SideOptions): Wanted {
  const there = {
    bus: hasBus(plan, busDir),
    graph: hasGraph(plan, dir),
    blobs: keepsBlobs(plan) ? hasBus(plan, busDir) : existsSync(blobsIn(dir)),
  };
  return {
    bus: wanted.bus && there.bus,
    graph: wanted.graph && there.graph,
    blobs: wanted.blobs && there.blobs,
  };
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

async function openBus(plan: Plan, dir: string, nats: readonly string[]): Promise<BusContent> {
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  if (plan.definition.topology === 'embedded') {
    return await openBusContent({ engine: 'sqlite', file: busIn(dir, 'embedded'), keyMaxAgeMs });
  }
  return await openBusContent({ engine: 'nats', ...natsOf(plan, nats), keyMaxAgeMs });
}

async function openGraph(plan: Plan, dir: string, to: SideOptions['to']): Promise<GraphContent> {
  if (plan.definition.graph === 'dgraph') return await openGraphContent({ engine: 'dgraph', ...dgraphAddressOf(plan) });
  return await openGraphContent({ engine: 'sqlite', file: graphIn(dir, 'sqlite'), readOnly: to === 'read' });
}

async function openBlobs(plan: Plan, dir: string, nats: readonly string[]): Promise<OpenedBlobs> {
  if (!keepsBlobs(plan)) return await openBlobsContent({ engine: 'folder', dir: blobsIn(dir) });
  return await openBlobsContent({ engine: 'jetstream', ...natsOf(plan, nats) });
}

/** Where NATS is and who comes to it. */
function natsOf({ definition: { bus }, environment, secrets }: Plan, nats: readonly string[]) {
  const seeds = busSeedsOf(secrets);
  if (bus.servers === 'auto') return { servers: nats, caPath: null, seeds };
  return { servers: bus.servers, caPath: environment.backend.BUS_CA_PATH ?? null, seeds };
}
