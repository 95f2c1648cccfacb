import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KindOfContent, readContent } from '../../services/backend/graph/content.ts';
import { copyGraph, openGraphContent } from '../../services/backend/graph/open-content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { busSeedsOf } from '../secrets.ts';
import type { ProcessIdentity } from '../state/process-identity.ts';
import { startBusAlone } from './bus-alone.ts';
import { type CarriedBus, carryBus, verifyBus } from './carry-bus.ts';
import { stagingDirOf } from './move-state.ts';
import type { MovePlan } from './plan-move.ts';
import { busIn, graphName } from './sides.ts';

export interface Carrying {
  readonly plan: MovePlan;
  readonly env: EnvRecord;
  readonly born: (process: ProcessIdentity) => void;
  readonly signal: AbortSignal;
}

/** Copies the graph to what is kept, and returns what the copy holds: nothing where the platform was never started. */
export async function keepGraph({ plan }: Carrying, kept: string): Promise<readonly KindOfContent[]> {
  const file = join(plan.installation.dataDir, graphName);
  if (!existsSync(file)) return [];
  const copy = join(kept, graphName);
  await copyGraph(file, copy);
  return await contentOf(copy);
}

/** The graph stays the file that it is. Throws where it is not what was kept. */
export async function verifyGraph({ plan }: Carrying, kept: readonly KindOfContent[]): Promise<void> {
  const file = join(plan.installation.dataDir, graphName);
  const now = existsSync(file) ? await contentOf(file) : [];
  const differing = kept.find(({ kind, count, digest }) => {
    const same = now.find((other) => other.kind === kind);
    return same?.count !== count || same.digest !== digest;
  });
  if (differing === undefined && now.length === kept.length) return;
  throw new SvcError('internal', `The graph is not what was kept of it: ${differing?.kind ?? 'there is more of it'}.`);
}

/** Makes the new bus, with what the old one keeps, where nobody looks for it yet. */
export async function makeBus(carrying: Carrying): Promise<CarriedBus> {
  const { plan } = carrying;
  const staging = stagingDirOf(plan.installation);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  const nothing = { records: [], keys: new Map<string, number>() };
  if (!plan.carriesBus || isEmpty(plan)) return nothing;
  return await withBus(carrying, plan.from, plan.installation.dataDir, (from) =>
    withBus(carrying, plan.to, staging, (to) => carryBus(from, to)),
  );
}

/** Opened anew: what is read is what will be found. */
export async function verifyNewBus(carrying: Carrying, carried: CarriedBus): Promise<readonly KindOfContent[]> {
  const { plan } = carrying;
  const staging = stagingDirOf(plan.installation);
  if (!existsSync(busIn(staging, plan.to.definition.topology))) return [];
  return await withBus(carrying, plan.to, staging, (there) => verifyBus(carried, there));
}

/** A platform that was never started has no bus; one that somebody else runs is always there. */
function isEmpty({ from, installation }: MovePlan): boolean {
  const { topology, bus } = from.definition;
  const isOurs = topology === 'embedded' || bus.servers === 'auto';
  return isOurs && !existsSync(busIn(installation.dataDir, topology));
}

async function withBus<Result>(
  { env, born, signal }: Carrying,
  plan: Plan,
  dir: string,
  work: (content: BusContent) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const { definition, environment } = plan;
  const keyMaxAgeMs = Number(environment['remote-mcp'].SVC_SESSION_IDLE_TIMEOUT_MS);
  if (definition.topology === 'embedded') {
    return await using(await openBusContent({ engine: 'sqlite', file: busIn(dir, 'embedded'), keyMaxAgeMs }), work);
  }
  const shown = { engine: 'nats', seeds: busSeedsOf(plan.secrets), keyMaxAgeMs } as const;
  if (definition.bus.servers !== 'auto') {
    const caPath = environment.backend.BUS_CA_PATH ?? null;
    return await using(await openBusContent({ ...shown, servers: definition.bus.servers, caPath }), work);
  }
  const bus = await startBusAlone({ plan, env, storeDir: busIn(dir, 'distributed'), born, signal });
  try {
    return await using(await openBusContent({ ...shown, servers: bus.servers, caPath: null }), work);
  } finally {
    await bus.stop();
  }
}

async function contentOf(file: string): Promise<readonly KindOfContent[]> {
  return await using(await openGraphContent({ engine: 'sqlite', file, readOnly: true }), readContent);
}

async function using<Content extends { close(): Promise<void> }, Result>(
  content: Content,
  work: (content: Content) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(content);
  } finally {
    await content.close();
  }
}
