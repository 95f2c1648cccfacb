import { SvcError } from '../../contracts/errors.ts';
import { findId, newId, type WorkspaceId } from '../../contracts/ids.ts';
import { parseToolPattern } from '../../contracts/tool-pattern.ts';
import { type ToolRuleEffect, toolRuleEffects } from '../../contracts/tool-rules.ts';
import { rulesOfRoleMax, rulesOfWorkspaceMax } from '../../contracts/workspace-limits.ts';
import type { Change } from '../activity/change.ts';
import { tooMany } from '../graph/get-node.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { getServers } from '../servers/get-servers.ts';

/** A rule by the name of its MCP server; `tool` may hold `*`. */
export interface RuleRef {
  readonly effect: ToolRuleEffect;
  readonly mcpServer: string;
  readonly tool: string;
}

/** What limits the tools of a role, as the catalogue has it. */
export function limitsOf({ toolLimit }: Node<'role'>, rules: readonly Node<'toolRule'>[]) {
  return {
    readOnly: toolLimit !== null,
    rules: rules.flatMap(({ effect, mcpServer: text, pattern }) => {
      const mcpServer = findId('mcpServer', text);
      return mcpServer === null ? [] : [{ effect: parseEffect(effect), mcpServer, pattern }];
    }),
  };
}

export function parseEffect(text: string): ToolRuleEffect {
  const effect = toolRuleEffects.find((known) => known === text);
  if (effect === undefined) throw new Error(`effect "${text}" of a tool rule in the graph`);
  return effect;
}

/** Replaces the rules of a role; returns them as `EFFECT MCPSERVER/TOOL`, before and after. */
export async function replaceRules(
  { transaction, workspace }: Change,
  role: Node<'role'>,
  refs: readonly RuleRef[],
): Promise<{ before: readonly string[]; after: readonly string[] }> {
  if (refs.length > rulesOfRoleMax) throw tooMany('tool rules in a role', rulesOfRoleMax);
  const servers = await getServers(transaction, workspace, refs);
  const after = new Map<string, { readonly server: Node<'mcpServer'>; readonly ref: RuleRef }>();
  const effects = new Map<string, ToolRuleEffect>();
  for (const { effect, mcpServer, tool } of refs) {
    const server = servers.get(mcpServer);
    if (server === undefined) continue;
    const ref = { effect, mcpServer, tool: parseRuledTool(tool) };
    const about = `${mcpServer}/${ref.tool}`;
    if (effects.has(about) && effects.get(about) !== effect) throw allowedAndDenied(role, about);
    effects.set(about, effect);
    after.set(`${effect} ${about}`, { server, ref });
  }
  const before = await rulesByRef(transaction, role);
  for (const [ref, { id }] of before) {
    if (!after.has(ref)) await transaction.remove('toolRule', id, workspace);
  }
  const added = [...after].filter(([ref]) => !before.has(ref));
  if (added.length > 0) await requireRoom(transaction, workspace, added.length);
  for (const [, { server, ref }] of added) await addRule(transaction, role, server, ref);
  return { before: [...before.keys()].sort(), after: [...after.keys()].sort() };
}

/** Removes the rules of a removed role. */
export async function removeRulesOf(transaction: Transaction, role: Node<'role'>): Promise<void> {
  for (const { id } of (await rulesByRef(transaction, role)).values()) {
    await transaction.remove('toolRule', id, role.workspace);
  }
}

function parseRuledTool(text: string): string {
  const tool = parseToolPattern(text);
  if (tool !== '') return tool;
  throw new SvcError('invalid_input', 'A tool rule names no tool.', { hint: 'Name one, or all of an MCP server: *' });
}

function allowedAndDenied({ name }: Node<'role'>, about: string): SvcError {
  return new SvcError('invalid_input', `The role "${name}" both allows and denies "${about.slice(0, 200)}".`, {
    hint: 'Leave one of the two rules out. A rule that denies wins over one that allows.',
  });
}

async function addRule(
  transaction: Transaction,
  role: Node<'role'>,
  server: Node<'mcpServer'>,
  { effect, tool: pattern }: RuleRef,
): Promise<void> {
  const id = newId('toolRule');
  const values = { role: role.id, mcpServer: server.id, pattern, effect, createdAt: Date.now() };
  await transaction.create('toolRule', { id, workspace: role.workspace, ...values });
  await transaction.link({ from: 'toolRule', edge: 'of' }, id, [role.id]);
  await transaction.link({ from: 'toolRule', edge: 'server' }, id, [server.id]);
}

async function rulesByRef(
  transaction: Transaction,
  { id, workspace: anchor }: Node<'role'>,
): Promise<ReadonlyMap<string, Node<'toolRule'>>> {
  const options = { anchor, limitEach: rulesOfRoleMax };
  const rules = (await transaction.followBack({ from: 'toolRule', edge: 'of' }, [id], options)).get(id) ?? [];
  const ids = rules.map((rule) => rule.id);
  const servers = await transaction.follow({ from: 'toolRule', edge: 'server' }, ids, { anchor, limitEach: 1 });
  return new Map(
    rules.map((rule) => [`${rule.effect} ${servers.get(rule.id)?.[0]?.name ?? ''}/${rule.pattern}`, rule]),
  );
}

async function requireRoom(transaction: Transaction, workspace: WorkspaceId, added: number): Promise<void> {
  const present = await transaction.count({ type: 'toolRule', anchor: workspace, limit: 1 });
  if (present + added > rulesOfWorkspaceMax) {
    throw tooMany('tool rules in all roles of a workspace', rulesOfWorkspaceMax);
  }
}
