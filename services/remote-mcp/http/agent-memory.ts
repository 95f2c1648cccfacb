import { Budget, type Owner } from '../../kit/budget.ts';

/** The key and the workspace that a piece of memory counts for. */
export type AgentOwner = Owner<'key' | 'workspace'>;
export type AgentMemory = Budget<'key' | 'workspace'>;

/** The common owner of all clients without a valid key. */
export const strangers: AgentOwner = { key: 'strangers', workspace: 'strangers' };

const mebibyte = 1024 * 1024;
/** Half of the default `limits.memoryMaxMb` of a remote-mcp. The process itself needs less than the other half. */
const total = 256 * mebibyte;
/** A key may hold four results or five calls of the largest size. A workspace may hold half of all, whatever the number of its keys. */
const shares = { key: 64 * mebibyte, workspace: 128 * mebibyte };

/** The memory of one remote-mcp for requests in progress and unread answers. */
export function agentMemory(limits = { total, shares }): AgentMemory {
  const hint = 'Send fewer or smaller requests at the same time, and read each answer.';
  return new Budget({ what: 'bytes of memory', hint, ...limits });
}
