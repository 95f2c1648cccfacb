import { isObject } from './is-object.ts';
import { toolMatcher } from './tool-pattern.ts';

export const toolRuleEffects = ['allow', 'deny'] as const;
export type ToolRuleEffect = (typeof toolRuleEffects)[number];

/** A rule of a role about tools of one MCP server: those with this name, or that match it. */
export interface ToolRule {
  readonly effect: ToolRuleEffect;
  /** Its id; what a message says has its name. */
  readonly mcpServer: string;
  readonly pattern: string;
}

/** What limits the tools of a role. */
export interface RoleLimits {
  readonly readOnly: boolean;
  readonly rules: readonly ToolRule[];
}

export interface RuledTool {
  readonly mcpServer: string;
  /** The name that its MCP server gives it. */
  readonly originalName: string;
  readonly isReadOnly: boolean;
}

/** Why a role does not let a tool pass. */
export type RuleRefusal =
  | { readonly kind: 'deny'; readonly rule: ToolRule }
  /** The role has rules that allow, and none of them names the tool. */
  | { readonly kind: 'not_allowed' }
  | { readonly kind: 'read_only' };

export function hasLimits({ readOnly, rules }: RoleLimits): boolean {
  return readOnly || rules.length > 0;
}

/** Null if the role lets the tool pass. Deny wins over allow; without a rule that allows, every tool is allowed. */
export function refusalOf({ readOnly, rules }: RoleLimits, tool: RuledTool): RuleRefusal | null {
  const about = (rule: ToolRule) => rule.mcpServer === tool.mcpServer && toolMatcher(rule.pattern)(tool.originalName);
  const denying = rules.find((rule) => rule.effect === 'deny' && about(rule));
  if (denying !== undefined) return { kind: 'deny', rule: denying };
  const allowing = rules.filter(({ effect }) => effect === 'allow');
  if (allowing.length > 0 && !allowing.some(about)) return { kind: 'not_allowed' };
  return readOnly && !tool.isReadOnly ? { kind: 'read_only' } : null;
}

/** `deny files/delete_*`, in a message. */
export function describeRefusal(refusal: RuleRefusal, mcpServerName: string): string {
  switch (refusal.kind) {
    case 'deny':
      return `deny ${mcpServerName}/${refusal.rule.pattern}`;
    case 'not_allowed':
      return 'allowed tools only';
    case 'read_only':
      return 'read-only';
  }
}

/** An MCP server's own claim (2025-11-25, "ToolAnnotations"). A tool without the hint is not read-only. */
export function isReadOnlyTool(definition: unknown): boolean {
  return isObject(definition) && isObject(definition.annotations) && definition.annotations.readOnlyHint === true;
}
