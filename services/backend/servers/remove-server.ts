import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { type BasedOn, findSince, requireSeen, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { getNode } from '../graph/get-node.ts';
import { type Node, pageMax } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { removePatternsOf } from '../tools/tool-patterns.ts';
import type { WithTokenRevocation } from '../workspaces/token-revocation.ts';
import { runtimesOf } from './change-servers.ts';
import { rulesAbout } from './rules-about.ts';
import { followers, skillsUsing, usedTools } from './skills-using.ts';

export interface ServerRemoval extends BasedOn {
  /** Ids of the skills that may lose tools; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
}

/** Each is a changed node and a record of the activity in one transaction, which has ten seconds. */
const skillsChangedMax = 500;

/**
 * Removes an MCP server with its tools, statuses and integration, whose tokens are revoked at the provider. Skills lose
 * its tools, and each of them records the loss.
 */
export async function removeMcpServer(
  backend: ChangeNeeds & WithTokenRevocation,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  { id, ifVersion, ifUsedBy }: ServerRemoval,
): Promise<void> {
  const integration = await change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { transaction } = change;
    const server = await findSince(change, 'mcpServer', { id, ifVersion }, () =>
      getNode(transaction, 'mcpServer', id, workspace),
    );
    await requireVersion(change, 'mcpServer', server, ifVersion);
    if (ifUsedBy != null) {
      const skills = await skillsUsing(transaction, server, skillsChangedMax);
      requireSeen({ kind: 'mcpServer', name: server.name }, { kind: 'skill', objects: skills, seen: ifUsedBy });
    }
    const runtimes = await runtimesOf(change, server);
    await takeFromSkills(change, server);
    await takeFromRoles(change, server);
    await removePatternsOf(transaction, workspace, { field: 'mcpServer', id: server.id });
    await removeAllOf(change, server, 'tool');
    await removeAllOf(change, server, 'status');
    const integration = await transaction.findBy('integration', { mcpServer: server.id }, workspace);
    if (integration !== null) await transaction.remove('integration', integration.id, workspace);
    await transaction.remove('mcpServer', server.id, workspace);
    change.record({
      action: 'remove',
      subject: server.id,
      subjectKind: 'mcpServer',
      subjectName: server.name,
      changes: {},
    });
    change.announce({ kind: 'command', runtimes, command: { kind: 'assignments' } });
    return integration;
  });
  if (integration !== null) await backend.revokeTokensOf(integration);
}

/** A skill that loses tools counts as changed. The removal of a tool removes its edges. */
async function takeFromSkills(change: Change, server: Node<'mcpServer'>): Promise<void> {
  const { transaction, workspace } = change;
  const losses = new Map<string, { readonly skill: Node<'skill'>; readonly tools: string[] }>();
  for await (const { tool, skills } of usedTools(transaction, server, skillsChangedMax + 1)) {
    for (const skill of skills) {
      const loss = losses.get(skill.id) ?? { skill, tools: [] };
      loss.tools.push(`${server.name}/${tool.originalName}`);
      losses.set(skill.id, loss);
    }
    if (losses.size > skillsChangedMax) throw inTooManySkills(server);
  }
  for (const skill of await followers(transaction, server, skillsChangedMax + 1)) {
    const loss = losses.get(skill.id) ?? { skill, tools: [] };
    loss.tools.push(`${server.name}/*`);
    losses.set(skill.id, loss);
  }
  if (losses.size > skillsChangedMax) throw inTooManySkills(server);
  for (const { skill, tools } of losses.values()) {
    await transaction.update('skill', skill.id, { name: skill.name }, { anchor: workspace });
    const changes = differences({}, { removedTools: tools.sort() });
    change.record({ action: 'update', subject: skill.id, subjectKind: 'skill', subjectName: skill.name, changes });
  }
}

/**
 * A role that allows tools of this MCP server alone would allow every tool without these rules. Then a person decides
 * first what the role allows.
 */
async function takeFromRoles(change: Change, server: Node<'mcpServer'>): Promise<void> {
  const { transaction, workspace } = change;
  for (const { role, lost, widens } of await rulesAbout(transaction, server)) {
    if (widens) throw allowsNothingElse(role, server);
    for (const { id } of lost) await transaction.remove('toolRule', id, workspace);
    await transaction.update('role', role.id, { name: role.name }, { anchor: workspace });
    const refs = lost.map(({ effect, pattern }) => `${effect} ${server.name}/${pattern}`).sort();
    const changes = differences({}, { removedRules: refs });
    change.record({ action: 'update', subject: role.id, subjectKind: 'role', subjectName: role.name, changes });
  }
}

function allowsNothingElse(role: Node<'role'>, server: Node<'mcpServer'>): SvcError {
  return new SvcError(
    'conflict',
    `The role "${role.name}" allows only tools of the MCP server "${server.name}". Without its rules the role would allow every tool.`,
    { hint: 'Change the rules of the role or remove the role, and try again.' },
  );
}

function inTooManySkills({ name }: Node<'mcpServer'>): SvcError {
  return new SvcError('too_large', `More than ${skillsChangedMax} skills use tools of the MCP server "${name}".`, {
    hint: 'Remove its tools from some of these skills, and try again.',
  });
}

async function removeAllOf({ transaction, workspace }: Change, server: Node<'mcpServer'>, type: 'tool' | 'status') {
  const where = [{ field: 'mcpServer' as const, equals: server.id }];
  for (;;) {
    const { nodes } = await transaction.select({ type, anchor: workspace, where, limit: pageMax });
    if (nodes.length === 0) return;
    for (const { id } of nodes) await transaction.remove(type, id, workspace);
  }
}
