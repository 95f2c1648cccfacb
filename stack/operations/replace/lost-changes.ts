import { type ChangesOfKind, changesBetween } from '../../../services/backend/graph/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { readBus } from '../../content/carry-bus.ts';
import { noKinds } from '../../content/place.ts';
import { ArchiveReader } from '../../content/read-archive.ts';
import { withStore } from '../../content/store.ts';
import { isUp } from '../../engines/engine-of.ts';
import { readPlan } from '../../engines/plan-of.ts';
import type { Installation } from '../../state/installation.ts';
import { placesOf } from './fill-places.ts';
import { keptDirOf, keptFilesIn, type Replacement } from './replacement.ts';

export interface LostChanges {
  readonly installation: Installation;
  readonly state: Replacement;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/** Compares the graph with the kept archive. The platform may run meanwhile, and goes on. */
export async function lostChanges({
  installation,
  state,
  env,
  signal,
}: LostChanges): Promise<readonly ChangesOfKind[]> {
  if (!state.archived.graph) return [];
  const plan = readPlan(installation);
  const places = await placesOf(plan, { env, signal, onNotice: () => undefined });
  const opening = { kinds: { ...noKinds, graph: true }, to: 'read', isRunning: isUp(installation) } as const;
  await using place = await places.open(opening);
  await using before = await ArchiveReader.open(keptFilesIn(keptDirOf(installation, state)).archive);
  // The sections of an archive are read in their order.
  await readBus(before);
  return await withStore({ plan, place, ...opening, signal }, async ({ graph }) =>
    graph === null ? [] : await changesBetween(before, graph),
  );
}
