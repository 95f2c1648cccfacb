import { dataOf } from '../graph/graph-parts.ts';
import { hasNodeData, kindOf } from '../graph/node-data.ts';
import type { Installation } from '../installation.ts';
import { type KeptData, readPlace } from './place-record.ts';

/**
 * Why a node of Dgraph is not started: data that it had is gone. It would rejoin empty, and its vote would count as if it still had the data.
 * Null for every other part.
 */
export function lossOf(installation: Installation, part: string): string | null {
  if (kindOf(part) === null || hasNodeData(installation, part)) return null;
  const path = dataOf(part);
  const known = readPlace(installation)?.data.find((data) => data.path === path);
  return known === undefined ? null : describeLoss(known);
}

export function describeLoss({ path, since }: KeptData): string {
  return toldOfLoss(`data "${path}" (there since ${since})`);
}

/** `what`: the data of a node of Dgraph, as its engine names it. */
export function toldOfLoss(what: string): string {
  return `Its ${what} is gone, so it is not started. Restore the data, or have it copied from another node: svc up --start-empty`;
}
