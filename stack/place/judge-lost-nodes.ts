import { dataOf } from '../parts/dgraph-node.ts';
import type { Definition } from '../settings/definition.ts';
import type { KeptData } from '../state/place-record.ts';
import { nodeKinds, nodesOf } from './node-data.ts';

/** Data that a node of Dgraph had. */
export interface NodeLoss extends KeptData {
  readonly node: string;
}

export interface NodeLosses {
  /** A majority of the kind has the data: the platform runs without these. */
  readonly keptOut: readonly NodeLoss[];
  /** One of two nodes: the other has every acknowledged change, but no majority alone. */
  readonly awaited: readonly NodeLoss[];
  /** The remaining nodes may lack acknowledged changes. */
  readonly hopeless: readonly NodeLoss[];
}

type Verdict = keyof NodeLosses;

/**
 * Judges each kind separately: Dgraph acknowledges a change when a majority of the kind has stored it. If no node has data,
 * the result is empty: the whole graph is lost.
 */
export function judgeLostNodes(
  definition: Definition,
  gone: readonly KeptData[],
  hasData: (node: string) => boolean,
): NodeLosses {
  const kinds = nodeKinds.map((kind) => {
    const nodes = nodesOf(kind, definition);
    const losses = nodes.flatMap((node) => {
      const data = gone.find(({ path }) => path === dataOf(node));
      return data === undefined ? [] : [{ ...data, node }];
    });
    const left = nodes.filter((node) => hasData(node)).length;
    return { losses, left, verdict: verdictOn(losses.length, left) };
  });
  const judged = (verdict: Verdict) => kinds.flatMap((kind) => (kind.verdict === verdict ? kind.losses : []));
  if (kinds.every(({ left }) => left === 0)) return { keptOut: [], awaited: [], hopeless: [] };
  return { keptOut: judged('keptOut'), awaited: judged('awaited'), hopeless: judged('hopeless') };
}

/** Ignores nodes that never joined the cluster. */
function verdictOn(lost: number, left: number): Verdict {
  if (left > lost) return 'keptOut';
  return lost === 1 && left === 1 ? 'awaited' : 'hopeless';
}
