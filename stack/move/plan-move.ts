import { readFileSync, statfsSync } from 'node:fs';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { checkPrograms } from '../check-programs.ts';
import { checkDefinition, readDefinition } from '../definition/check.ts';
import type { Definition } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { type Plan, readPlan } from '../lifecycle/plan.ts';
import { preparePlan } from '../lifecycle/prepare-plan.ts';
import { findRunning, type RunningPlatform } from '../state/find-running.ts';
import { bytesLeft } from '../state/free-space.ts';
import { applyChanges, changesFor, type FieldChange } from './definition-changes.ts';
import { refuseFilled } from './elsewhere.ts';
import { costOf, sizeOf } from './move-cost.ts';
import { type Side, sideOf } from './side.ts';
import { hasGraph, type Wanted } from './side-content.ts';
import { busIn, graphIn } from './sides.ts';

/** Everything about a move that is known before anything is stopped. */
export interface MovePlan {
  readonly installation: Installation;
  readonly from: Plan;
  readonly to: Plan;
  readonly changes: readonly FieldChange[];
  readonly running: RunningPlatform | null;
  /** Sizes of what is there now; what the bus holds is counted when it stands still. */
  readonly graphBytes: number;
  readonly busBytes: number;
  /** What has another place on the new side, and holds anything: a bus in memory ends with the platform as it always does. */
  readonly carries: Wanted;
  readonly neededBytes: number;
  /** Null where the disk does not say. */
  readonly freeBytes: number | null;
  readonly downSeconds: number;
}

export interface PlanMoveOptions {
  readonly installation: Installation;
  readonly to: Side;
  readonly env: EnvRecord;
  readonly onNotice: (message: string) => void;
}

/** Finds everything that is wrong with the target before anything is stopped: programs, ports, secrets, room on the disk. */
export async function planMove({ installation, to, env, onNotice }: PlanMoveOptions): Promise<MovePlan> {
  const { definitionFile, dataDir } = installation;
  const definition = readDefinition(definitionFile);
  if (definition.engine === 'docker') {
    throw new SvcError(
      'unsupported',
      'This platform runs in containers, and moving from there is not part of this version.',
    );
  }
  if (definition.replicas.nats > 1) {
    throw new SvcError('unsupported', 'The bus has several nodes, and moving from there is not part of this version.', {
      hint: 'Set replicas.nats: 1 in svc.yaml and type svc up first: what they keep is carried over.',
    });
  }
  const changes = changesFor(definition, to);
  const target = targetDefinition(definitionFile, changes);
  const running = findRunning(installation);
  const from = readPlan(installation);
  const plan = await preparePlan({ installation, definition: target, env, running, avoid: new Set(), onNotice });
  const graph = definition.graph !== to.graph && hasGraph(from, dataDir);
  const bus = definition.topology !== to.topology && definition.bus.persistentMessaging;
  const carries = { bus, graph, blobs: graph };
  if (carries.graph) {
    await refuseFilled(plan);
    await checkPrograms(definition, env.PATH);
  }
  const graphFile = graphIn(dataDir, definition.graph);
  const graphBytes = sizeOf(graphFile) + sizeOf(`${graphFile}-wal`);
  const busFile = busIn(dataDir, definition.topology);
  const busBytes = carries.bus ? sizeOf(busFile) + sizeOf(`${busFile}-wal`) : 0;
  const { neededBytes, downSeconds } = costOf({ from: sideOf(definition), to, carries, graphBytes, busBytes });
  const room = { neededBytes, freeBytes: bytesLeft(statfsSync(dataDir), process.getuid?.() === 0) };
  refuseWithoutRoom(dataDir, room);
  return { installation, from, to: plan, changes, running, graphBytes, busBytes, carries, ...room, downSeconds };
}

function targetDefinition(file: string, changes: readonly FieldChange[]): Definition {
  return checkDefinition(applyChanges(readFileSync(file, 'utf8'), changes), file);
}

export function refuseWithoutRoom(
  dir: string,
  { neededBytes, freeBytes }: Pick<MovePlan, 'neededBytes' | 'freeBytes'>,
): void {
  if (freeBytes === null || freeBytes >= neededBytes) return;
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  throw new SvcError(
    'unavailable',
    `"${dir}" has ${megabytes(freeBytes)} left, and a move needs ${megabytes(neededBytes)}: the old side is kept.`,
    { hint: `Free some space and try again: df -h "${dir}" tells how much there is.` },
  );
}
