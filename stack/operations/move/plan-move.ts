import { readFileSync } from 'node:fs';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Kinds } from '../../content/place.ts';
import { engineFor, isSameEngine, isUp } from '../../engines/engine-of.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { refuseUnreadable, settleLosses } from '../../place/losses.ts';
import type { Plan } from '../../plan/plan.ts';
import { checkDefinition, readDefinition } from '../../settings/check.ts';
import { type Definition, hasOwnBus } from '../../settings/definition.ts';
import { findRunning, type RunningPlatform } from '../../state/find-running.ts';
import { refuseWithoutRoom } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { graphElsewhere, type PlacesAccess, placesOf, prepareTarget, refuseFilled } from '../replace/fill-places.ts';
import { isSameGraph, type Side } from '../replace/side.ts';
import { applyChanges, changesFor, type FieldChange } from './definition-changes.ts';
import { costOf } from './move-cost.ts';

/** Everything about a move that is known before anything is stopped. */
export interface MovePlan {
  readonly from: Plan;
  readonly to: Plan;
  readonly changes: readonly FieldChange[];
  readonly running: RunningPlatform | null;
  /** Whether its parts run, be it in containers. */
  readonly isUp: boolean;
  /** Sizes before the stop; the bus is counted once it stands still. */
  readonly graphBytes: number;
  readonly busBytes: number;
  /** The content that gets another place: a bus in memory ends with the platform as it always does. */
  readonly carries: Kinds;
  readonly neededBytes: number;
  readonly freeBytes: number | null;
  readonly downSeconds: number;
}

/** Finds everything that is wrong with the target before anything is stopped: programs, ports, secrets, images, room on the disk. */
export async function planMove(installation: Installation, to: Side, access: PlacesAccess): Promise<MovePlan> {
  const { definitionFile } = installation;
  const definition = readDefinition(definitionFile);
  if (definition.replicas.nats > 1) {
    throw new SvcError('unsupported', 'The bus has several nodes, and moving from there is not part of this version.', {
      hint: 'Set replicas.nats: 1 in svc.yaml and type svc up first: it carries the data over.',
    });
  }
  const changes = changesFor(definition, to);
  const target = targetOf(applyChanges(readFileSync(definitionFile, 'utf8'), changes), definitionFile);
  const from = readPlan(installation);
  const plan = await prepareTarget(installation, target, access);
  const [places, targetPlaces] = [await placesOf(from, access), await placesOf(plan, access)];
  const runningPid = findRunning(installation)?.pid ?? null;
  const losses = await places.findLosses();
  refuseUnreadable(losses.keptOut);
  await settleLosses(losses, { startEmpty: null, runningPid, onNotice: access.onNotice });
  // Nodes that a command left there would keep their places from being removed.
  await targetPlaces.endLeft();
  const there = await places.list();
  const left = (await targetPlaces.list()).filter((place) => !there.includes(place));
  if (left.length > 0) {
    throw new SvcError(
      'conflict',
      `Earlier data is in the places of the new data, and a move fills empty places only: ${left.join(', ')}.`,
      { hint: targetPlaces.clearHint(left) },
    );
  }
  const carries = whatMoves(from, to, there.length > 0 || graphElsewhere(definition) !== null);
  if (carries.graph) await refuseFilled(plan);
  await engineFor(definition).check(from, access.env);
  const { disk, ...sizes } = await places.measure();
  const load = { ...sizes, busBytes: carries.bus ? sizes.busBytes : 0 };
  const inVolumes = from.site.isPrivate || plan.site.isPrivate;
  const { neededBytes, downSeconds } = costOf({ ...load, from: definition, to, fillsGraph: carries.graph, inVolumes });
  for (const one of [disk, (await targetPlaces.measure()).disk])
    refuseWithoutRoom(one, neededBytes, 'a move that keeps the data before');
  const known = { from, to: plan, changes, running: findRunning(installation), isUp: isUp(installation) };
  return { ...known, ...load, carries, neededBytes, freeBytes: disk.freeBytes, downSeconds };
}

/** The content that the other side keeps in another place. An external bus or graph stays where it is. */
function whatMoves({ definition }: Plan, to: Side, hasGraph: boolean): Kinds {
  const isOther = !isSameEngine(definition, to);
  const isElsewhere = graphElsewhere(definition) !== null && to.graph === 'dgraph';
  const graph = hasGraph && !isElsewhere && !isSameGraph(definition, to);
  const bus = definition.topology !== to.topology || (isOther && hasOwnBus(definition));
  const blobs = graph || (isElsewhere && isOther && hasOwnBus(definition));
  return { bus: bus && definition.bus.persistentMessaging, graph, blobs };
}

function targetOf(text: string, file: string): Definition {
  try {
    return checkDefinition(text, file);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const hint = 'Name another target, or change svc.yaml and run svc up before the move.';
    throw new SvcError(error.code, `The move needs a change of svc.yaml that does not fit: ${error.message}`, { hint });
  }
}
