import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { checkDefinition, readDefinition } from '../definition/check.ts';
import type { Definition, Topology } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';
import { type Plan, readPlan } from '../lifecycle/plan.ts';
import { preparePlan } from '../lifecycle/prepare-plan.ts';
import { findRunning, type RunningPlatform } from '../state/find-running.ts';
import { bytesLeft } from '../state/free-space.ts';
import { applyChanges, changesFor, type FieldChange } from './definition-changes.ts';
import { busIn, graphName } from './sides.ts';

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
  /** Whether the bus keeps anything: else it is in memory, and ends with the platform as it always does. */
  readonly carriesBus: boolean;
  readonly neededBytes: number;
  /** Null where the disk does not say. */
  readonly freeBytes: number | null;
  readonly downSeconds: number;
}

export interface PlanMoveOptions {
  readonly installation: Installation;
  readonly to: Topology;
  readonly env: EnvRecord;
  readonly onNotice: (message: string) => void;
}

/** Records, logs and what a file system needs for itself. */
const spareBytes = 1024 * 1024;
/** Stop, a bus for itself, and start: measured, rounded up. */
const downSecondsLeast = 4;
/** What is copied and read again in a second on a slow disk. NATS has each message on the disk before the next (measured: a thousand a second). */
const bytesASecond = 20 * 1024 * 1024;
const bytesASecondToNats = 512 * 1024;

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
  const graphBytes = sizeOf(join(dataDir, graphName)) + sizeOf(join(dataDir, `${graphName}-wal`));
  const carriesBus = definition.bus.persistentMessaging;
  const bus = busIn(dataDir, definition.topology);
  const busBytes = carriesBus ? sizeOf(bus) + sizeOf(`${bus}-wal`) : 0;
  const room = {
    neededBytes: graphBytes + 3 * busBytes + spareBytes,
    freeBytes: bytesLeft(statfsSync(dataDir), process.getuid?.() === 0),
  };
  refuseWithoutRoom(dataDir, room);
  const busSeconds = busBytes / (to === 'distributed' ? bytesASecondToNats : bytesASecond);
  const downSeconds = downSecondsLeast + Math.ceil(graphBytes / bytesASecond + busSeconds);
  return { installation, from, to: plan, changes, running, graphBytes, busBytes, carriesBus, ...room, downSeconds };
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

/** Of a file, or of all files in a folder. */
export function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  if (!statSync(path).isDirectory()) return statSync(path).size;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce(
    (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
