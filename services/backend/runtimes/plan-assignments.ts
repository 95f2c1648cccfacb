import { assignmentsMax } from '../../contracts/bus/messages.ts';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { payloadMaxBytes } from '../../kit/bus/bus.ts';
import type { Node } from '../graph/graph.ts';
import { fairShares } from './fair-shares.ts';

/** An MCP server that a runtime shall run, and how large its entry of a handshake is. */
export interface Candidate {
  readonly id: McpServerId;
  readonly workspace: WorkspaceId;
  readonly bytes: number;
}

/** Every MCP server has this much for sure: enough for most launches, and for the reason why another one is refused. */
export const entryBytes = 1024;
/** Sealed and written as base64url, it takes 14.7 of the 16 MiB that a message may have. */
export const assignmentsMaxBytes = (11 / 16) * payloadMaxBytes;
/**
 * What one workspace gets of it at most, besides `entryBytes` for each MCP server: a change of any of them has all of it decrypted, sealed and
 * sent again.
 */
export const workspaceMaxBytes = 2 * 1024 * 1024;
/** Ids, name and author, and the field names of JSON. */
const knownMaxBytes = 512;

/** At most: the ciphertext is base64url over the JSON text of the launch. */
export function entryBytesOf({ launch }: Pick<Node<'mcpServer'>, 'launch'>): number {
  return Math.ceil((launch.length * 3) / 4) + knownMaxBytes;
}

/**
 * How many bytes the entry of each MCP server may have in one handshake; those without any have no entry. Workspaces share the entries, and
 * what is left of the bytes, so that one with large launches takes nothing from the others. Within a workspace the oldest come first.
 */
export function planAssignments(candidates: readonly Candidate[]): ReadonlyMap<McpServerId, number> {
  const all = Map.groupBy(candidates, ({ workspace }) => workspace);
  const counts = fairShares(
    mapValues(all, ({ length }) => length),
    assignmentsMax,
  );
  const told = new Map([...all].map(([workspace, own]) => [workspace, own.slice(0, counts.get(workspace))]));
  const toldCount = sum([...told.values()].map(({ length }) => length));
  const shares = fairShares(
    mapValues(told, (own) => Math.min(sum(own.map(excessOf)), workspaceMaxBytes)),
    assignmentsMaxBytes - toldCount * entryBytes,
  );
  return new Map([...told].flatMap(([workspace, own]) => grantOldestFirst(own, shares.get(workspace) ?? 0)));
}

/** What does not fit leaves its room to smaller ones that come later. */
function grantOldestFirst(
  candidates: readonly Candidate[],
  share: number,
): readonly (readonly [McpServerId, number])[] {
  let left = share;
  return candidates.map((candidate) => {
    const excess = excessOf(candidate);
    const granted = excess <= left ? excess : 0;
    left -= granted;
    return [candidate.id, entryBytes + granted];
  });
}

function excessOf({ bytes }: Candidate): number {
  return Math.max(0, bytes - entryBytes);
}

function mapValues<Key, Value, Result>(
  map: ReadonlyMap<Key, Value>,
  work: (value: Value) => Result,
): ReadonlyMap<Key, Result> {
  return new Map([...map].map(([key, value]) => [key, work(value)]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
