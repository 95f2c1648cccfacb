import { SvcError } from '../../services/contracts/errors.ts';
import { dataOf } from '../parts/dgraph-node.ts';
import type { Definition } from '../settings/definition.ts';
import type { KeptData } from '../state/place-record.ts';
import { judgeLostNodes, type NodeLoss } from './judge-lost-nodes.ts';
import { describeUnreadable } from './loss-of.ts';
import { type NodeData, nodeKinds, nodesOf } from './node-data.ts';

/** Asks the operator for consent to start without the named data. Throws if the operator declines. */
export type StartEmpty = (gone: readonly string[]) => Promise<void>;

/** How an engine names data. */
export interface LossWords {
  readonly tell: (data: readonly KeptData[]) => readonly string[];
  readonly describe: (loss: KeptData) => string;
  /** What a backup of the whole graph restores. */
  readonly backup: string;
}

export interface Losses {
  /** Recorded data that is missing or cannot be read. */
  readonly missing: readonly KeptData[];
  readonly definition: Definition;
  readonly dataOfNode: (node: string) => NodeData;
  readonly words: LossWords;
  /** The process that has the data open. */
  readonly runningPid: number | null;
  readonly startEmpty: StartEmpty | null;
  /** Whether a minority of the Dgraph nodes may be missing. False for a move, which reads every node. */
  readonly mayKeepOut: boolean;
  readonly onNotice: (message: string) => void;
}

export interface Settled {
  /** Lost data that no other node holds: the platform starts without it. */
  readonly whole: readonly KeptData[];
  /** Nodes of Dgraph without data. */
  readonly lost: readonly string[];
  /** Those of them to be filled with a copy of another node's data. The others are kept out. */
  readonly copied: readonly string[];
}

/** Decides about missing data, for either engine. Throws when the platform cannot start without it. */
export async function settleLosses(losses: Losses): Promise<Settled> {
  const { missing, definition, dataOfNode, words, runningPid, startEmpty, mayKeepOut, onNotice } = losses;
  const { tell } = words;
  const { keptOut, awaited, hopeless } = judgeLostNodes(definition, missing, (node) => dataOfNode(node) === 'present');
  const unreadable = unreadableNodes(losses);
  const isReadable = ({ node }: NodeLoss) => !unreadable.some((one) => one.node === node);
  const needed = unreadable.filter(({ node }) => !mayKeepOut || !keptOut.some((one) => one.node === node));
  if (needed.length > 0) throw cannotBeRead(needed);
  for (const { node, reason, ...loss } of unreadable) onNotice(`${node}: ${describeUnreadable(loss, reason)}`);
  const ofNodes = [...keptOut, ...awaited, ...hopeless];
  const whole = missing.filter(({ path }) => !ofNodes.some((loss) => loss.path === path));
  const settled = { whole, lost: ofNodes.map(({ node }) => node) };
  if (runningPid !== null && whole.length > 0) throw vanished(tell(whole), runningPid);
  if (hopeless.length > 0) throw tooFewNodes(tell(hopeless), words);
  if (startEmpty === null) {
    const refused = [...whole, ...awaited, ...(mayKeepOut ? [] : keptOut)];
    if (refused.length > 0) throw vanished(tell(refused), null, whole.length > 0 ? startWithout : copyFromAnother);
    for (const loss of keptOut.filter(isReadable)) onNotice(`${loss.node}: ${words.describe(loss)}`);
    return { ...settled, copied: [] };
  }
  // A node of a pair comes first: nothing starts without it. The next svc up --start-empty copies the other nodes.
  const copied = awaited.length > 0 ? awaited : keptOut.filter(isReadable);
  if (whole.length + copied.length === 0) return { ...settled, copied: [] };
  for (const { node } of copied) onNotice(`The platform stops, and ${node} gets a copy of another node's data.`);
  await startEmpty(tell([...whole, ...copied]));
  return { ...settled, copied: copied.map(({ node }) => node) };
}

interface UnreadableNode extends NodeLoss {
  readonly reason: string;
}

function unreadableNodes({ missing, definition, dataOfNode }: Losses): readonly UnreadableNode[] {
  return nodeKinds
    .flatMap((kind) => nodesOf(kind, definition))
    .flatMap((node) => {
      const loss = missing.find(({ path }) => path === dataOf(node));
      const data = loss === undefined ? 'present' : dataOfNode(node);
      return loss === undefined || typeof data === 'string' ? [] : [{ ...loss, node, reason: data.unreadable }];
    });
}

/** Data that may still exist is neither given up nor overwritten. */
function cannotBeRead(nodes: readonly UnreadableNode[]): SvcError {
  const told = nodes.map(({ path, reason }) => `"${path}" (${reason})`);
  return new SvcError('unavailable', `Data of this installation cannot be read: ${told.join(' and ')}.`, {
    hint: 'Repair the disk or the permission, then repeat the command. To give this data up, remove its folder first.',
  });
}

function tooFewNodes(gone: readonly string[], { backup }: LossWords): SvcError {
  return new SvcError(
    'not_found',
    `Nodes of Dgraph lost data, and the other nodes may not have all of it: ${gone.join(' and ')}.`,
    {
      hint: `Restore ${backup} from a backup, all nodes from the same moment. To begin with an empty graph, remove ${backup} first.`,
    },
  );
}

const startWithout = 'To start without it';
export const copyFromAnother = 'To copy it from another node';

export function vanished(gone: readonly string[], pid: number | null, repair = startWithout): SvcError {
  return new SvcError('not_found', `Data of this installation is missing: ${gone.join(' and ')}.`, {
    hint:
      pid === null
        ? `Mount the disk that holds it, or restore it from a backup. ${repair}: svc up --start-empty`
        : `The platform (pid ${pid}) still has the data open. Export what you need, then run svc down.`,
  });
}
