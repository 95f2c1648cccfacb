import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenedBlobs, openBlobsContent } from '../../services/backend/files/open-content.ts';
import type { GraphContent } from '../../services/backend/graph/content.ts';
import { openGraphContent } from '../../services/backend/graph/open-content.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';
import { copyBus, openBusContent } from '../../services/kit/bus/open-content.ts';
import { dgraphAddressOf } from '../graph/dgraph-address.ts';
import { provisionGraph } from '../graph/provision-graph.ts';
import { graphStartMaxMs } from '../parts/dgraph.ts';
import { fileAt } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { busSeedsOf } from '../secrets/secrets.ts';
import { hasOtherBus } from '../settings/definition.ts';
import { blobsIn, busIn, graphIn } from '../state/data-files.ts';
import { carryBus } from './carry-bus.ts';
import { type Alone, keepsBlobs, keyMaxAgeOf, type Opening, type Place } from './place.ts';

export interface Store {
  readonly bus: BusContent | null;
  readonly graph: GraphContent | null;
  readonly blobs: OpenedBlobs['blobs'] | null;
}

interface Opened extends Opening {
  readonly plan: Plan;
  readonly place: Place;
  readonly signal: AbortSignal;
}

/** Opens the content in a place, and saves it there if it was filled. Content of a running platform is only read. */
export async function withStore<Result>(
  { places, ...options }: Omit<Opened, 'place'> & { readonly places: { open(opening: Opening): Promise<Place> } },
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  await using place = await places.open(options);
  options.signal.throwIfAborted();
  const result = await withOpened({ ...options, place }, work);
  if (options.to === 'fill') await place.save();
  return result;
}

async function withOpened<Result>(options: Opened, work: (store: Store) => Promise<Result>): Promise<Result> {
  const { plan, place, to, signal } = options;
  const asked = to === 'fill' ? options.kinds : place.there;
  // A bus in memory keeps nothing.
  const kinds = { ...asked, bus: asked.bus && plan.definition.bus.persistentMessaging };
  await using open = new AsyncDisposableStack();
  const alone = await place.run(kinds);
  open.defer(() => alone.stop());
  if (alone.graph !== null) {
    const { caPath } = dgraphAddressOf(plan);
    const timeoutMs = graphStartMaxMs(plan.definition);
    await provisionGraph({ urls: alone.graph.urls, caPath, secrets: plan.secrets, timeoutMs, signal });
  }
  const openOne = options.isRunning ? openBusCopy : openBus;
  const bus = kinds.bus ? await openOne(options, alone, open) : null;
  open.defer(async () => bus?.close());
  const graph = kinds.graph ? await openGraph(options, alone) : null;
  open.defer(async () => graph?.close());
  const blobs = kinds.blobs ? open.use(await openBlobs(options, alone)).blobs : null;
  return await work({ bus, graph, blobs });
}

async function openBus(options: Opened, { bus }: Alone): Promise<BusContent> {
  const { plan, place } = options;
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  if (plan.definition.topology === 'embedded') {
    return await openBusContent({ engine: 'sqlite', file: busIn(place.dir, 'embedded'), keyMaxAgeMs });
  }
  return await openBusContent({ engine: 'nats', ...natsOf(options, bus), keyMaxAgeMs });
}

/** Copies what the bus of a running platform keeps into a file, and opens the copy. */
async function openBusCopy(options: Opened, alone: Alone, open: AsyncDisposableStack): Promise<BusContent> {
  const { plan, place } = options;
  const folder = join(plan.installation.dataDir, 'bus-copy');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // A killed command may have left one.
  remove();
  mkdirSync(folder, { mode: 0o700 });
  open.defer(remove);
  const file = busIn(folder, 'embedded');
  const isFile = plan.definition.topology === 'embedded';
  if (isFile) await copyBus(busIn(place.dir, 'embedded'), file);
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

async function openGraph({ plan, place, to }: Opened, alone: Alone): Promise<GraphContent> {
  if (plan.definition.graph === 'sqlite') {
    return await openGraphContent({ engine: 'sqlite', file: graphIn(place.dir, 'sqlite'), readOnly: to === 'read' });
  }
  const usual = dgraphAddressOf(plan);
  const { urls: [url = usual.url] = [], servers = usual.servers } = alone.graph ?? {};
  return await openGraphContent({ engine: 'dgraph', ...usual, url, servers, readOnly: to === 'read' });
}

async function openBlobs(options: Opened, { bus }: Alone): Promise<OpenedBlobs> {
  if (!keepsBlobs(options.plan)) return await openBlobsContent({ engine: 'folder', dir: blobsIn(options.place.dir) });
  return await openBlobsContent({ engine: 'jetstream', ...natsOf(options, bus) });
}

/** The address of NATS, and the seeds that the backend shows there. */
function natsOf({ plan, isRunning: hasBackends = false }: Opened, nats: readonly string[]) {
  const { definition, parts, secrets } = plan;
  const seeds = busSeedsOf(secrets);
  // While the platform runs, the certificate of the bus is for its public names only.
  const isNamed = hasBackends && definition.bus.public?.tls != null;
  if (!hasOtherBus(definition) && !isNamed) return { servers: nats, caPath: null, seeds, hasBackends };
  const backend = firstOf('backend', parts);
  const { BUS_SERVERS = '', BUS_CA_PATH: ca } = backend.variables;
  const caPath = ca === undefined ? null : fileAt(ca, backend);
  return { servers: BUS_SERVERS.split(','), caPath, seeds, hasBackends };
}
