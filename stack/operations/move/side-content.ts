import { resolve } from 'node:path';
import { type OpenedBlobs, openBlobsContent } from '../../../services/backend/files/open-content.ts';
import type { GraphContent } from '../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import type { BusContent } from '../../../services/kit/bus/content.ts';
import { openBusContent } from '../../../services/kit/bus/open-content.ts';
import type { Alone } from '../../content/alone.ts';
import { keepsBlobs, keyMaxAgeOf } from '../../content/kept-on-bus.ts';
import { dgraphAddressOf } from '../../graph/dgraph-address.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import { graphStartMaxMs } from '../../parts/dgraph-alpha.ts';
import type { Plan } from '../../plan/plan.ts';
import { busSeedsOf } from '../../secrets/secrets.ts';
import { blobsIn, busIn, graphIn } from '../../state/data-files.ts';
import { openPlace, type PlaceOptions, type SidePlace } from './side-place.ts';

/** What one side holds, of what was asked for and is there. */
export interface SideContent {
  readonly bus: BusContent | null;
  readonly graph: GraphContent | null;
  readonly blobs: OpenedBlobs['blobs'] | null;
}

/** Opens a side while no backend has it open. What a process keeps runs for it, and for nobody else. */
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
    const bus = wanted.bus ? await openBus(plan, options, alone) : null;
    open.defer(async () => bus?.close());
    const graph = wanted.graph ? await openGraph(plan, { place, to, alone }) : null;
    open.defer(async () => graph?.close());
    const blobs = wanted.blobs ? open.use(await openBlobs(plan, place, alone)).blobs : null;
    return await work({ bus, graph, blobs });
  })();
  await place.save();
  return result;
}

async function openBus(plan: Plan, { dir, busDir = dir }: PlaceOptions, { bus }: Alone): Promise<BusContent> {
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  if (plan.definition.topology === 'embedded') {
    return await openBusContent({ engine: 'sqlite', file: busIn(busDir, 'embedded'), keyMaxAgeMs });
  }
  return await openBusContent({ engine: 'nats', ...natsOf(plan, bus), keyMaxAgeMs });
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
  return await openGraphContent({ engine: 'dgraph', ...usual, url, servers });
}

async function openBlobs(plan: Plan, { dir }: SidePlace, { bus }: Alone): Promise<OpenedBlobs> {
  if (!keepsBlobs(plan)) return await openBlobsContent({ engine: 'folder', dir: blobsIn(dir) });
  return await openBlobsContent({ engine: 'jetstream', ...natsOf(plan, bus) });
}

/** Where NATS is and who comes to it. */
function natsOf({ installation, definition: { bus }, secrets }: Plan, nats: readonly string[]) {
  const seeds = busSeedsOf(secrets);
  if (bus.servers === 'auto') return { servers: nats, caPath: null, seeds };
  return { servers: bus.servers, caPath: bus.ca === undefined ? null : resolve(installation.dir, bus.ca), seeds };
}
