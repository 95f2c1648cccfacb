import { SvcError } from '../../services/contracts/errors.ts';
import { sizeText } from '../machine/size-text.ts';
import { kindOf, type NodeKind, nodesOf } from '../place/node-data.ts';
import type { Definition } from '../settings/definition.ts';
import type { ServiceState } from '../state/transition.ts';

/** Where an engine keeps the data of the nodes of Dgraph. */
export interface NodePlaces {
  readonly hasData: (node: string) => boolean;
  readonly stateOf: (node: string) => ServiceState | null;
  /** Writes a change through these nodes alone, and resolves when they have acknowledged it. */
  readonly change: (nodes: readonly string[]) => Promise<void>;
  /** Stops the platform, where it runs. */
  readonly stop: () => Promise<void>;
  /** One for each disk that the copies are made on. */
  readonly roomsFor: (copies: readonly Copying[]) => Promise<readonly Room[]>;
  /** Leaves nothing where it fails. */
  readonly copy: (copying: Copying) => Promise<void>;
}

/** Bytes that the copies need on one disk, and the bytes that are free there. */
export interface Room {
  readonly place: string;
  /** Command that shows what takes the room. */
  readonly repair: string;
  readonly neededBytes: number;
  /** Null where the file system has no bound. */
  readonly freeBytes: number | null;
}

export interface Copying {
  readonly from: string;
  readonly to: string;
}

export interface Filling {
  readonly definition: Definition;
  /** Nodes that lost their data. */
  readonly nodes: readonly string[];
  readonly places: NodePlaces;
  readonly onNotice: (message: string) => void;
}

/**
 * Copies another node's data to each node that lost its own, while nothing runs. The copy holds every acknowledged change. Of two nodes
 * each acknowledges every change. Of three, the other two first acknowledge one change without the lost node.
 */
export async function fillNodes({ definition, nodes, places, onNotice }: Filling): Promise<void> {
  const othersOf = (node: string) => {
    const kind = kindOf(node);
    if (kind === null) return [];
    return nodesOf(kind, definition).filter((other) => other !== node && places.hasData(other));
  };
  if (nodes.length === 0) return;
  const copies = nodes.map((to) => {
    const [from] = othersOf(to);
    if (from === undefined) throw new Error(`no node has the data of ${to}`);
    return { from, to };
  });
  refuseFullDisks(nodes, await places.roomsFor(copies));
  if (nodes.some((node) => othersOf(node).length > 1)) await proveOthers(definition, nodes, places);
  await places.stop();
  for (const { from, to } of copies) {
    await places.copy({ from, to });
    onNotice(`${to} has a copy of the data of ${from}.`);
  }
}

/** Records, logs and what a file system needs for itself. */
const spareBytes = 1024 * 1024;

/** Without room the copy would fail once the platform is stopped. */
function refuseFullDisks(nodes: readonly string[], rooms: readonly Room[]): void {
  for (const { place, repair, freeBytes, ...room } of rooms) {
    const neededBytes = room.neededBytes + spareBytes;
    if (freeBytes === null || freeBytes >= neededBytes) continue;
    throw new SvcError(
      'unavailable',
      `${place} has ${sizeText(freeBytes)} left, and the data of ${nodes.join(' and ')} needs ${sizeText(neededBytes)}.`,
      { hint: `Free some space there, then repeat the command: ${repair}` },
    );
  }
}

/**
 * Of three nodes, one of the remaining two may lag behind. A change that both acknowledge proves that both hold all earlier changes.
 * Dgraph stores each change on its coordination nodes and on its data nodes.
 */
async function proveOthers(
  definition: Definition,
  lost: readonly string[],
  { stateOf, change }: NodePlaces,
): Promise<void> {
  const kinds = new Set(lost.map(kindOf).filter((kind) => kind !== null));
  const others = [...kinds]
    .flatMap((kind: NodeKind) => nodesOf(kind, definition))
    .filter((node) => !lost.includes(node));
  const wrong = [
    ...lost.filter((node) => stateOf(node) !== 'lost').map((node) => `svc status does not show ${node} as lost`),
    ...others.filter((node) => stateOf(node) !== 'healthy').map((node) => `${node} is not healthy`),
  ];
  if (wrong.length > 0) {
    throw new SvcError('conflict', `The data of ${lost.join(' and ')} cannot be copied yet: ${wrong.join(', ')}.`, {
      hint: 'Run in this order: svc down, svc up, svc up --start-empty',
    });
  }
  await change(nodesOf('dgraph-alpha', definition).filter((node) => !lost.includes(node)));
}
