import { dataOf } from '../parts/dgraph-node.ts';
import type { Installation } from '../state/installation.ts';
import { type KeptData, readPlace } from '../state/place-record.ts';
import { kindOf, readNodeData } from './node-data.ts';

/**
 * Why a node of Dgraph is not started: its recorded data is missing or cannot be read. It would rejoin empty, and its
 * vote would count as if it still had the data. Null for every other part.
 */
export function lossOf(installation: Installation, part: string): string | null {
  const data = kindOf(part) === null ? 'present' : readNodeData(installation, part);
  if (data === 'present') return null;
  const path = dataOf(part);
  const known = readPlace(installation)?.data.find((one) => one.path === path);
  if (known === undefined) return null;
  return data === 'gone' ? describeLoss(known) : describeUnreadable(known, data.unreadable);
}

/** Why a node with unreadable data is not started. */
export function describeUnreadable({ path }: KeptData, reason: string): string {
  return `Its data "${path}" cannot be read (${reason}), so it is not started. Repair the disk or the permission, then run: svc up`;
}

export function describeLoss({ path, since }: KeptData): string {
  return toldOfLoss(`data "${path}" (there since ${since})`);
}

/** `what`: the data of a node of Dgraph, as its engine names it. */
export function toldOfLoss(what: string): string {
  return `Its ${what} is missing, so the node is not started. Restore the data, or copy it from another node: svc up --start-empty`;
}
