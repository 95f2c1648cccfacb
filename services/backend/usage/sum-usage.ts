import type { UsageRecord } from '../../contracts/bus/messages.ts';
import type { KeyId, McpServerId, SkillId, ToolId, WorkspaceId } from '../../contracts/ids.ts';
import { hourMs } from '../../contracts/usage-hour.ts';
import type { KeyUse } from '../keys/last-used.ts';

/** Calls of one hour by key, tool and skill: one row of usage. */
export interface UsageSum {
  /** The row's name in the workspace. */
  readonly slot: string;
  readonly workspace: WorkspaceId;
  readonly hour: number;
  readonly key: KeyId;
  readonly tool: ToolId;
  readonly skill: SkillId | null;
  readonly mcpServer: McpServerId;
  readonly calls: number;
  /** Calls that failed, and those whose tool reported a failure. */
  readonly errors: number;
  readonly durationMs: number;
}

export function sumUsage(records: readonly UsageRecord[]): readonly UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const { workspace, key, at, call } of records) {
    if (call === undefined) continue;
    const { mcpServer, tool, skill, outcome, calls, durationMs } = call;
    const hour = at - (at % hourMs);
    const slot = [hour, key, tool, skill ?? '-'].join(' ');
    const before = sums.get(`${workspace} ${slot}`) ?? { calls: 0, errors: 0, durationMs: 0 };
    sums.set(`${workspace} ${slot}`, {
      ...{ slot, workspace, hour, key, tool, skill, mcpServer },
      calls: before.calls + calls,
      errors: before.errors + (outcome === 'ok' ? 0 : calls),
      durationMs: before.durationMs + durationMs,
    });
  }
  return [...sums.values()];
}

/** The latest use of each key, by calls or otherwise. */
export function latestUses(records: readonly UsageRecord[]): readonly KeyUse[] {
  const latest = new Map<KeyId, KeyUse>();
  for (const { key, workspace, at } of records) {
    if (at > (latest.get(key)?.at ?? 0)) latest.set(key, { key, workspace, at });
  }
  return [...latest.values()];
}
