import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { type OpenedBlobs, openBlobsContent } from '../../../services/backend/files/open-content.ts';
import type { GraphContent } from '../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import type { BusContent } from '../../../services/kit/bus/content.ts';
import { copyBus, openBusContent } from '../../../services/kit/bus/open-content.ts';
import type { Alone } from '../../content/alone.ts';
import { carryBus } from '../../content/carry-bus.ts';
import { keepsBlobs, keyMaxAgeOf } from '../../content/kept-on-bus.ts';
import { dgraphAddressOf } from '../../graph/dgraph-address.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import { graphStartMaxMs } from '../../parts/dgraph-alpha.ts';
import type { Plan } from '../../plan/plan.ts';
import { busSeedsOf } from '../../secrets/secrets.ts';
import { blobsIn, busIn, graphIn } from '../../state/data-files.ts';
import { newFolder, openPlace, type PlaceOptions, type SidePlace } from './side-place.ts';

/** What one side holds, of what was asked for and is there. */
export interface SideContent {
  readonly bus: BusContent | null;
  readonly graph: GraphContent | null;
  readonly blobs: OpenedBlobs['blobs'] | null;
}

/**
 * Opens a side. NATS and Dgraph run for this alone, unless the platform runs: then only `read` is possible, and the bus is read before the
 * graph is opened.
 */
export async function withSide<Result>(
  options: PlaceOptions,
  work: (content: SideContent) => Promise<Result>,
): Promise<Result> {
  const { plan, to, signal } = options;
  signal.throwIfAborted();
  await using place = await openPlace(options);
  const wanted = to === 'fill' ? options.wanted : place.there;
  const result = await (async () => {
    await using open = new AsyncDisposableStack();
    const alone = await place.run(wanted);
    open.defer(() => alone.stop());
    if (alone.graph !== null) {
      await provisionGraph({
        urls: alone.graph.urls,
        caPath: dgraphAddressOf(plan).caPath,
        secrets: plan.secrets,
        timeoutMs: graphStartMaxMs(plan.definition),
        signal,
      });
    }
    const bus = wanted.bus
      ? await (options.isRunning ? openBusCopy(options, alone, open) : openBus(options, alone))
      : null;
    open.defer(async () => bus?.close());
    const graph = wanted.graph ? await openGraph(plan, { place, to, alone }) : null;
    open.defer(async () => graph?.close());
    const blobs = wanted.blobs ? open.use(await openBlobs(options, place, alone)).blobs : null;
    return await work({ bus, graph, blobs });
  })();
  await place.save();
  return result;
}

async function openBus(options: PlaceOptions, { bus }: Alone): Promise<BusContent> {
  const { plan, dir, busDir = dir } = options;
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  if (plan.definition.topology === 'embedded') {
    return await openBusContent({ engine: 'sqlite', file: busIn(busDir, 'embedded'), keyMaxAgeMs });
  }
  return await openBusContent({ engine: 'nats', ...natsOf(options, bus), keyMaxAgeMs });
}

/** Copies what the bus of a running platform keeps into a file, and opens that. */
async function openBusCopy(options: PlaceOptions, alone: Alone, open: AsyncDisposableStack): Promise<BusContent> {
  const { plan, dir } = options;
  const folder = newFolder(plan.installation);
  open.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = busIn(folder, 'embedded');
  const isFile = plan.definition.topology === 'embedded';
  if (isFile) await copyBus(busIn(dir, 'embedded'), file);
  const copy = await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: keyMaxAgeOf(plan) });
  if (isFile) return copy;
  const bus = await openBus(options, alone);
  try {
    await carryBus(bus, copy);
    return copy;
  } finally {
    await bus.close();
  }
}

interface OpenGraph {
  readonly place: SidePlace;
  readonly to: PlaceOptions['to'];
  readonly alone: Alone;
}

async function openGraph(plan: Plan, { place, to, alone }: OpenGraph): Promise<GraphContent> {
  if (plan.definition.graph === 'sqlite') {
    return await openGraphContent({ engine: 'sqlite', file: graphIn(place.dir, 'sqlite'), readOnly: to === 'read' });
  }
  const usual = dgraphAddressOf(plan);
  const { urls: [url = usual.url] = [], servers = usual.servers } = alone.graph ?? {};
  return await openGraphContent({ engine: 'dgraph', ...usual, url, servers, readOnly: to === 'read' });
}

async function openBlobs(options: PlaceOptions, { dir }: SidePlace, { bus }: Alone): Promise<OpenedBlobs> {
  if (!keepsBlobs(options.plan)) return await openBlobsContent({ engine: 'folder', dir: blobsIn(dir) });
  return await openBlobsContent({ engine: 'jetstream', ...natsOf(options, bus) });
}

/** Where NATS is and who comes to it. */
function natsOf({ plan, isRunning: hasBackends = false }: PlaceOptions, nats: readonly string[]) {
  const { installation, definition, secrets } = plan;
  const { bus } = definition;
  const seeds = busSeedsOf(secrets);
  const caAt = (path: string | null | undefined) => (path == null ? null : resolve(installation.dir, path));
  if (bus.servers !== 'auto') return { servers: bus.servers, caPath: caAt(bus.ca), seeds, hasBackends };
  const { tls = null, servers = [] } = bus.public ?? {};
  // While the platform runs, the certificate of the bus is for these names only.
  if (hasBackends && tls !== null) return { servers, caPath: caAt(tls.ca), seeds, hasBackends };
  return { servers: nats, caPath: null, seeds, hasBackends };
}
