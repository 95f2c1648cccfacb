import { SvcError } from '../../services/contracts/errors.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { type ToolRuleEffect, toolRuleEffects } from '../../services/contracts/tool-rules.ts';
import { refsOfRules } from '../../stack/apply/plan-changes.ts';
import type { ToolRuleInput } from '../../stack/client/generated/operations.ts';
import type { ToolRef } from '../../stack/skills/skill-text.ts';
import { changedSet, type SetChange } from './changes.ts';
import type { RoleDetails } from './roles.ts';
import { parseToolRef, textOfRef } from './tool-refs.ts';

/** A change of the allowed and of the denied tools, as MCPSERVER/TOOL. */
export type RuleChange = Readonly<Record<ToolRuleEffect, SetChange>>;

/** The rules of a role after a change. */
export interface ChangedRules {
  /** As MCPSERVER/TOOL; undefined if the change leaves these alone. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[] | undefined;
  /** Tools that no rule named before. */
  readonly added: readonly ToolRef[];
  /** All of them, because the backend replaces rules as a whole; undefined: no rule changes. */
  readonly rules: readonly ToolRuleInput[] | undefined;
}

/** The values of --allow, --add-allow and --remove-allow, or of those for denied tools. */
export function parseRuleChange(effect: ToolRuleEffect, { replace, add, remove }: SetChange): SetChange {
  const refsOf = (flag: string, texts: readonly string[] | undefined) =>
    texts?.map((text) => textOfRef(parseToolRef(flag, text)));
  return {
    replace: refsOf(`--${effect}`, replace),
    add: refsOf(`--add-${effect}`, add),
    remove: refsOf(`--remove-${effect}`, remove),
  };
}

export function changeRules(role: Pick<RoleDetails, 'name' | 'rules'>, change: RuleChange): ChangedRules {
  // A rule that stays is not read as a flag: other clients may give it a comma.
  const known = new Map(
    role.rules.map(({ mcpServer, tool }) => [`${mcpServer.name}/${tool}`, { mcpServer: mcpServer.name, tool }]),
  );
  const refOf = (text: string) => known.get(text) ?? parseToolRef('--allow', text);
  const after = (effect: ToolRuleEffect) =>
    changedSet(refsOfRules(role, effect), change[effect], (absent) => noRule(role.name, effect, absent));
  const changed = { allow: after('allow'), deny: after('deny') };
  if (changed.allow === undefined && changed.deny === undefined) return { ...changed, added: [], rules: undefined };
  const rules = toolRuleEffects.flatMap((effect) =>
    (changed[effect] ?? refsOfRules(role, effect)).map((text) => ({ effect, ...refOf(text) })),
  );
  return { ...changed, added: rules.filter((rule) => !known.has(textOfRef(rule))), rules };
}

function noRule(role: string, effect: ToolRuleEffect, absent: string): SvcError {
  return new SvcError('not_found', `The role "${role}" has no rule "${effect} ${absent}".`, {
    hint: `Show its rules: svc role show ${shellWord(role)}`,
  });
}
