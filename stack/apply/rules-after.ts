import { type ToolRuleEffect, toolRuleEffects } from '../../services/contracts/tool-rules.ts';
import type { LiveRoleFragment, ToolRuleInput } from '../client/generated/operations.ts';
import type { WantedRole } from './wanted-workspace.ts';

/** Rules are replaced as a whole, so those of an effect that the file does not name are repeated. Undefined: all stay. */
export function rulesAfter(
  wanted: Pick<WantedRole, ToolRuleEffect>,
  live: Pick<LiveRoleFragment, 'rules'> | null,
): readonly ToolRuleInput[] | undefined {
  if (toolRuleEffects.every((effect) => wanted[effect] === undefined)) return undefined;
  const present = (live?.rules ?? []).map(({ mcpServer, ...rule }) => ({ ...rule, mcpServer: mcpServer.name }));
  return toolRuleEffects.flatMap(
    (effect) => wanted[effect]?.map((ref) => ({ effect, ...ref })) ?? present.filter((rule) => rule.effect === effect),
  );
}
