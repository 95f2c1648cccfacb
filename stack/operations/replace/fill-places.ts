import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KindOfContent } from '../../../services/backend/graph/content.ts';
import { emptyDgraph, isEmptyDgraph } from '../../../services/backend/graph/open-content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { type ArchiveFile, fillStore, verifyStore } from '../../content/archive.ts';
import type { Kinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import { engineFor, isSameEngine } from '../../engines/engine-of.ts';
import type { Places, PlacesOptions } from '../../engines/places.ts';
import { preparePlan } from '../../engines/prepare-plan.ts';
import { dgraphAddressOf } from '../../graph/dgraph-address.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import { type Definition, hasOtherBus } from '../../settings/definition.ts';
import type { Installation } from '../../state/installation.ts';
import { keptFilesOf, type Replacement } from './replacement.ts';

export interface Filling {
  readonly plan: Plan;
  readonly places: Places;
  readonly state: Replacement;
  /** The kinds to empty and to fill. */
  readonly kinds: Kinds;
  /** Null: the kept archive. */
  readonly archive: ArchiveFile | null;
  /** Called before the content is read again. */
  readonly onFilled?: () => void;
  readonly signal: AbortSignal;
}

/** Empties the places of a plan, fills them, reads them again and compares. Returns counts and digests; none if nothing was filled from an archive. */
export async function fillPlaces(filling: Filling): Promise<readonly KindOfContent[]> {
  const { plan, places, state, kinds, onFilled = () => undefined, signal } = filling;
  const kept = keptFilesOf(plan.installation, state);
  const archive = filling.archive ?? { file: kept.archive, passphrase: null };
  await emptyPlaces(places, state, kinds);
  for (const part of state.folders)
    if (existsSync(join(kept.dir, part))) await places.copyIn(join(kept.dir, part), part);
  if (!existsSync(archive.file)) {
    onFilled();
    return [];
  }
  const filled = filling.archive === null ? both(kinds, state.archived) : kinds;
  // An external bus keeps its records: it is read, and never filled.
  const opened = { ...filled, bus: filled.bus && !hasOtherBus(plan.definition) };
  return await withStore({ plan, places, kinds: opened, to: 'fill', signal }, async (store) => {
    const content = await fillStore(archive, store, signal);
    onFilled();
    return await verifyStore(store, content, signal);
  });
}

function both(one: Kinds, other: Kinds): Kinds {
  return { bus: one.bus && other.bus, graph: one.graph && other.graph, blobs: one.blobs && other.blobs };
}

/** Another engine begins only if the one before has no data. */
export async function emptyPlaces(places: Places, { from, to }: Replacement, kinds: Kinds): Promise<void> {
  await (isSameEngine(from, to) ? places.empty(kinds) : places.emptyAll());
}

/** What a command gives to an engine that reaches places for it. */
export type PlacesAccess = Omit<PlacesOptions, 'plan'>;

export async function placesOf(plan: Plan, access: PlacesAccess): Promise<Places> {
  return await engineFor(plan.definition).places({ plan, ...access });
}

/** The plan of the platform that gets the data. Finds everything that is wrong before anything is written. */
export async function prepareTarget(
  installation: Installation,
  definition: Definition,
  access: PlacesAccess,
): Promise<Plan> {
  const now = engineFor(readDefinition(installation.definitionFile));
  const start = { ...access, installation, foreground: false, startEmpty: null, onState: () => undefined };
  const { ownsPort, portPatienceMs } = await now.survey(start);
  const survey = { ownsPort, portPatienceMs };
  return preparePlan({ ...access, installation, definition, survey, avoid: new Set() });
}

/** The address of an external Dgraph: it is filled and emptied in its place. */
export function graphElsewhere({ graph, graphdb }: Definition): string | null {
  return graph === 'dgraph' && graphdb.url !== 'auto' ? graphdb.url : null;
}

/** Refuses data that a move would mix with its own, and lose when it is undone. */
export async function refuseFilled(plan: Plan): Promise<void> {
  const url = graphElsewhere(plan.definition);
  if (url === null || (await isEmptyDgraph(dgraphAddressOf(plan)))) return;
  throw new SvcError(
    'conflict',
    `The Dgraph at ${url} has data of a platform already, and a move fills an empty one.`,
    {
      hint: 'Name an empty Dgraph in graphdb.url of svc.yaml, or have this one emptied. To use its data: graph: dgraph in svc.yaml.',
    },
  );
}

export async function emptyElsewhere(plan: Plan): Promise<void> {
  if (graphElsewhere(plan.definition) !== null) await emptyDgraph(dgraphAddressOf(plan));
}
