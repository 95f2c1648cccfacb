import type { Definition } from '../definition/definition.ts';
import type { KeptData } from '../place/place-record.ts';
import { dataOf } from './graph-parts.ts';
import { nodeKinds, nodesOf } from './node-data.ts';

/** Data that a node of Dgraph had. */
export interface NodeLoss extends KeptData {
  readonly node: string;
}

export interface NodeLosses {
  /** Most nodes of the kind have the data: the platform runs without these. */
  readonly keptOut: readonly NodeLoss[];
  /** One of two: the other has everything that was acknowledged, and cannot work alone. */
  readonly awaited: readonly NodeLoss[];
  /** The nodes that are left may not have everything that was acknowledged. */
  readonly hopeless: readonly NodeLoss[];
}

type Verdict = keyof NodeLosses;

/**
 * Judges each kind of node by itself: Dgraph acknowledges what most nodes of a kind have stored. Where no node of any kind has data, no node
 * is judged: then the whole graph is gone.
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

/** A node that was never in the cluster counts on neither side. */
function verdictOn(lost: number, left: number): Verdict {
  if (left > lost) return 'keptOut';
  return lost === 1 && left === 1 ? 'awaited' : 'hopeless';
}
