import { Budget, type Owner } from '../../kit/budget.ts';

/** Whose memory it is: a key's and its workspace's. */
export type AgentOwner = Owner<'key' | 'workspace'>;
export type AgentMemory = Budget<'key' | 'workspace'>;

/** All clients without a good key together. */
export const strangers: AgentOwner = { key: 'strangers', workspace: 'strangers' };

const mebibyte = 1024 * 1024;
/** Half of the memory that `limits.memoryMaxMb` gives a remote-mcp at first; the process itself needs less than the other half. */
const total = 256 * mebibyte;
/** Of a key: four results of the largest size, or five calls of the largest size under way. Of a workspace: half of all, whatever keys it makes. */
const shares = { key: 64 * mebibyte, workspace: 128 * mebibyte };

/** The memory of one remote-mcp for what agents send and do not read. */
export function agentMemory(limits = { total, shares }): AgentMemory {
  const hint = 'Send fewer or smaller requests at the same time, and read each answer.';
  return new Budget({ what: 'bytes of memory', hint, ...limits });
}
