import { SvcError } from '../../services/contracts/errors.ts';
import type { Definition } from '../settings/definition.ts';
import { nodesOf } from '../settings/ports.ts';
import { kindOf, nodeKinds } from './node-data.ts';

/** Data that the platform had, and that is missing or cannot be read. */
export interface Loss {
  /** A path in the installation's folder, or the name of a volume. */
  readonly place: string;
  readonly words: string;
  /** The node of Dgraph with this data; null for other data. */
  readonly node: string | null;
  /** Whether the data may still exist: a permission or a disk that fails does not prove a loss. */
  readonly isUnreadable: boolean;
}

export interface Losses {
  /** Nodes of Dgraph that the platform starts without: a majority of their kind has its data. */
  readonly keptOut: readonly Loss[];
  /** Nodes of Dgraph whose kind has no majority without them: the others may lack acknowledged changes. */
  readonly needed: readonly Loss[];
  /** Data that nothing else holds. */
  readonly whole: readonly Loss[];
}

/** Judges each kind of nodes separately: Dgraph acknowledges a change when a majority of the kind has stored it. */
export function judgeLosses(
  losses: readonly Loss[],
  definition: Definition,
  hasData: (node: string) => boolean,
): Losses {
  const kinds = nodeKinds.map((kind) => ({
    lost: losses.filter(({ node }) => node !== null && kindOf(node) === kind),
    left: nodesOf(kind, definition).filter(hasData).length,
  }));
  if (kinds.every(({ left }) => left === 0)) return { keptOut: [], needed: [], whole: losses };
  return {
    keptOut: kinds.flatMap(({ lost, left }) => (left > lost.length ? lost : [])),
    needed: kinds.flatMap(({ lost, left }) => (left > lost.length ? [] : lost)),
    whole: losses.filter(({ node }) => node === null),
  };
}

/** Asks the operator for consent to start without the named data. Throws if the operator declines. */
export type StartEmpty = (gone: readonly string[]) => Promise<void>;

export interface Settling {
  /** Null: a start without data that nothing else holds is refused. */
  readonly startEmpty: StartEmpty | null;
  /** The process that has the data open. */
  readonly runningPid: number | null;
  readonly onNotice: (message: string) => void;
}

/** Returns the places of data that the platform starts without. Throws where it would start empty, and look healthy. */
export async function settleLosses(losses: Losses, settling: Settling): Promise<readonly string[]> {
  const { keptOut, needed, whole } = losses;
  const { startEmpty, runningPid, onNotice } = settling;
  refuseUnreadable([...needed, ...whole]);
  refuseWithoutMajority(losses);
  for (const loss of keptOut) onNotice(`${loss.node}: ${describeLoss(loss)}`);
  if (whole.length === 0) {
    if (startEmpty !== null) onNotice('--start-empty was not needed: nothing starts empty.');
    return [];
  }
  if (startEmpty === null || runningPid !== null) {
    const hint =
      runningPid === null
        ? 'Mount the disk that holds it, or restore a backup: svc restore FILE. To start without it: svc up --start-empty'
        : `The platform (pid ${runningPid}) still has the data open. Save it: svc backup FILE. Then run: svc down`;
    throw new SvcError('not_found', `Data of this installation is missing: ${wordsOf(whole)}.`, { hint });
  }
  await startEmpty(whole.map(({ words }) => words));
  return whole.map(({ place }) => place);
}

/** Throws where the other nodes of Dgraph cannot be read either. */
export function refuseWithoutMajority({ needed }: Losses): void {
  if (needed.length === 0) return;
  throw new SvcError(
    'not_found',
    `Nodes of Dgraph lost data, and the other nodes have no majority: ${wordsOf(needed)}.`,
    {
      hint: `Mount the disk that holds it, or restore a backup: svc restore FILE. To begin with an empty graph, remove the data of all nodes of Dgraph, then run: svc up --start-empty`,
    },
  );
}

/** Why a node of Dgraph is not started. It would rejoin empty, and its vote would count as if it still had the data. */
export function describeLoss({ words, isUnreadable }: Loss): string {
  return isUnreadable
    ? `Its data cannot be read, so the node is not started: ${words}. Repair the disk or the permission, then run: svc up`
    : `Its data is missing, so the node is not started: ${words}. To fill all nodes again: svc backup FILE, then svc restore FILE`;
}

/** Data that may still exist is neither given up nor replaced. */
export function refuseUnreadable(losses: readonly Loss[]): void {
  const unreadable = losses.filter(({ isUnreadable }) => isUnreadable);
  if (unreadable.length === 0) return;
  throw new SvcError('unavailable', `Data of this installation cannot be read: ${wordsOf(unreadable)}.`, {
    hint: 'Repair the disk or the permission, then repeat the command. To give this data up, remove its folder first.',
  });
}

function wordsOf(losses: readonly Loss[]): string {
  return losses.map(({ words }) => words).join(' and ');
}
