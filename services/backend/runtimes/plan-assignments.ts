import { accessTokenLengthMax, assignmentsMax } from '../../contracts/bus/messages.ts';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { payloadMaxBytes } from '../../kit/bus/bus.ts';
import type { Node } from '../graph/graph.ts';
import { fairShares } from './fair-shares.ts';

/** An MCP server assigned to a runtime, and the size of its entry in a handshake. */
export interface Candidate {
  readonly id: McpServerId;
  readonly workspace: WorkspaceId;
  readonly bytes: number;
}

/** Guaranteed size for every MCP server: enough for most launches, and for the reason of a refusal. */
export const entryBytes = 1024;
/** Sealed and written as base64url, it takes 14.7 of the 16 MiB of a message. */
export const assignmentsMaxBytes = (11 / 16) * payloadMaxBytes;
/**
 * The largest share of one workspace, besides `entryBytes` for each MCP server: any change decrypts, seals and sends
 * all of it again.
 */
export const workspaceMaxBytes = 2 * 1024 * 1024;
/** Ids, name and author, and the field names of JSON. */
const knownMaxBytes = 512;

/** Upper bound: the ciphertext is base64url over the JSON text of the launch. */
export function entryBytesOf({ launch, tokenVersion }: Pick<Node<'mcpServer'>, 'launch' | 'tokenVersion'>): number {
  const tokenMaxBytes = tokenVersion === null ? 0 : accessTokenLengthMax;
  return Math.ceil((launch.length * 3) / 4) + knownMaxBytes + tokenMaxBytes;
}

/**
 * The bytes for the entry of each MCP server in one handshake; an MCP server without bytes has no entry. Workspaces
 * share the entries and the rest of the bytes, so that large launches of one take nothing from the others. Within a
 * workspace the oldest come first.
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

/** A launch that does not fit leaves its room to smaller later ones. */
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
