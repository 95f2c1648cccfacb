import { readFileSync, statfsSync } from 'node:fs';
import type { WorkingFolder } from '../../../services/backend/servers/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { PreparedDaemon } from '../../engines/docker/prepared-daemon.ts';
import { engineFor, isUp } from '../../engines/engine-of.ts';
import { planner, readPlan } from '../../engines/plan-of.ts';
import { hasPort } from '../../engines/process/has-port.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { sizeText } from '../../machine/size-text.ts';
import type { Plan } from '../../plan/plan.ts';
import { checkDefinition, readDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import { hasOwnBus } from '../../settings/has-own-bus.ts';
import { blobsIn, busIn, graphIn } from '../../state/data-files.ts';
import { findRunning, type RunningPlatform } from '../../state/find-running.ts';
import { bytesLeft } from '../../state/free-space.ts';
import { type Installation, runtimeDirOf } from '../../state/installation.ts';
import { type ContainersOfMove, containersOf, portsHeldBefore } from './containers-of-move.ts';
import { applyChanges, changesFor, type FieldChange } from './definition-changes.ts';
import { refuseFilled } from './elsewhere.ts';
import { costOf } from './move-cost.ts';
import { type Side, sideOf } from './side.ts';
import { hasGraph, volumeNamed, type Wanted } from './side-place.ts';
import { findUnseenFolders } from './unseen-folders.ts';

/** Everything about a move that is known before anything is stopped. */
export interface MovePlan {
  readonly installation: Installation;
  readonly from: Plan;
  readonly to: Plan;
  readonly changes: readonly FieldChange[];
  readonly running: RunningPlatform | null;
  /** Whether its parts run, be it in containers. */
  readonly isUp: boolean;
  /** Null where neither side is in containers. */
  readonly daemon: PreparedDaemon | null;
  /** Volumes that are there before. */
  readonly volumes: ReadonlySet<string>;
  /** Sizes of what is there now; what the bus holds is counted when it stands still. */
  readonly graphBytes: number;
  readonly busBytes: number;
  /** What has another place on the new side, and holds anything: a bus in memory ends with the platform as it always does. */
  readonly carries: Wanted;
  /** Folders of MCP servers that containers would not see; null where that is not known. */
  readonly unseen: readonly WorkingFolder[] | null;
  readonly neededBytes: number;
  /** Null where the disk does not say. */
  readonly freeBytes: number | null;
  readonly downSeconds: number;
}

export interface PlanMoveOptions {
  readonly installation: Installation;
  readonly to: Side;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Finds everything that is wrong with the target before anything is stopped: programs, ports, secrets, images, room on the disk. */
export async function planMove({ installation, to, env, signal, onNotice }: PlanMoveOptions): Promise<MovePlan> {
  const { definitionFile, dataDir } = installation;
  const definition = readDefinition(definitionFile);
  if (definition.replicas.nats > 1) {
    throw new SvcError('unsupported', 'The bus has several nodes, and moving from there is not part of this version.', {
      hint: 'Set replicas.nats: 1 in svc.yaml and type svc up first: what they keep is carried over.',
    });
  }
  const changes = changesFor(definition, to);
  const target = targetDefinition(definitionFile, changes);
  const running = findRunning(installation);
  const from = readPlan(installation);
  const held = await portsHeldBefore(definition, env);
  const plan = await preparePlan({
    installation,
    planner,
    definition: target,
    check: async () => (await engineFor(target)).check(target, env),
    checkPorts: async (_, ports) => (await engineFor(target)).checkPorts(target, ports, env),
    ownsPort: (port) => held.has(port) || (running !== null && hasPort(running, port)),
    avoid: new Set(),
    onNotice,
  });
  const containers = await containersOf({ from, to: plan, installation, env, signal, onNotice });
  const { daemon, volumes } = containers;
  const carries = whatMoves(from, to, isGraphThere(from, volumes));
  if (carries.graph) await refuseFilled(plan);
  if (carries.graph || definition.engine !== to.engine) await (await engineFor(definition)).check(definition, env);
  const sizes = sizesOf(from, containers);
  const load = { ...sizes, carries, busBytes: carries.bus ? sizes.busBytes : 0 };
  const { neededBytes, downSeconds } = costOf({ ...load, from: sideOf(definition), to });
  const room = { neededBytes, freeBytes: bytesLeft(statfsSync(dataDir), process.getuid?.() === 0) };
  refuseWithoutRoom({ place: `"${dataDir}"`, repair: `df -h "${dataDir}" tells how much there is.` }, room);
  const ofDocker = { place: 'The disk of Docker', repair: 'docker system df tells what takes it.' };
  if (containers.measured !== null) refuseWithoutRoom(ofDocker, { ...room, ...containers.measured });
  const wasUp = isUp(installation);
  const unseen = await findUnseenFolders({ from, to: target, isUp: wasUp, env, signal });
  const known = { installation, from, to: plan, changes, running, isUp: wasUp, daemon, volumes, unseen };
  return { ...known, ...load, ...room, downSeconds };
}

/** What is kept elsewhere on the other side, by itself or because it is of another engine. A bus of somebody else's stays what it is. */
function whatMoves({ definition }: Plan, to: Side, hasGraph: boolean): Wanted {
  const isOther = definition.engine !== to.engine;
  const graph = hasGraph && (isOther || definition.graph !== to.graph);
  const bus = definition.topology !== to.topology || (isOther && hasOwnBus(definition));
  const isElsewhere = definition.graph === 'dgraph' && to.graph === 'dgraph' && !hasOwnBus(definition);
  return { bus: bus && definition.bus.persistentMessaging, graph, blobs: graph && !isElsewhere };
}

function isGraphThere(from: Plan, volumes: ReadonlySet<string>): boolean {
  const { engine, graph } = from.definition;
  if (engine === 'process') return hasGraph(from, from.installation.dataDir);
  return volumes.has(volumeNamed(graph === 'sqlite' ? 'backend' : 'dgraph-alpha', from));
}

function sizesOf(from: Plan, { measured }: ContainersOfMove) {
  const { installation, definition } = from;
  const { engine, graph, topology } = definition;
  const { dataDir } = installation;
  if (engine === 'docker') {
    const bytesOf = (part: string) => measured?.bytes[volumeNamed(part, from)] ?? 0;
    const graphBytes = graph === 'sqlite' ? bytesOf('backend') : bytesOf('dgraph-zero') + bytesOf('dgraph-alpha');
    return { graphBytes, fileBytes: 0, busBytes: bytesOf('nats'), otherBytes: bytesOf('runtime') };
  }
  const [graphFile, busFile] = [graphIn(dataDir, graph), busIn(dataDir, topology)];
  return {
    graphBytes: sizeOf(graphFile) + sizeOf(`${graphFile}-wal`),
    fileBytes: graph === 'sqlite' ? sizeOf(blobsIn(dataDir)) : 0,
    busBytes: sizeOf(busFile) + sizeOf(`${busFile}-wal`),
    otherBytes: sizeOf(runtimeDirOf(installation)),
  };
}

function targetDefinition(file: string, changes: readonly FieldChange[]): Definition {
  return checkDefinition(applyChanges(readFileSync(file, 'utf8'), changes), file);
}

export function refuseWithoutRoom(
  { place, repair }: { readonly place: string; readonly repair: string },
  { neededBytes, freeBytes }: Pick<MovePlan, 'neededBytes' | 'freeBytes'>,
): void {
  if (freeBytes === null || freeBytes >= neededBytes) return;
  throw new SvcError(
    'unavailable',
    `${place} has ${sizeText(freeBytes)} left, and a move needs ${sizeText(neededBytes)}: the old side is kept.`,
    { hint: `Free some space there and try again: ${repair}` },
  );
}
