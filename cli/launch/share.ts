import {
  createRoleMutation,
  createSkillMutation,
  roleQuery,
  updateRoleMutation,
} from '../../stack/client/generated/operations.ts';
import { confirmed } from '../consent.ts';
import type { Tenancy } from '../objects/platform.ts';
import type { RoleDetails } from '../objects/roles.ts';
import type { Terminal } from '../output/terminal.ts';

/** The role of skills that every agent may use. */
export const everyone = 'Everyone';

export interface Shared {
  readonly skill: string;
  readonly role: string;
}

/** Gives agents every tool of an MCP server, also later ones: a skill that follows it, in the role for everyone. */
export async function share(tenancy: Tenancy, mcpServer: string): Promise<Shared> {
  const { backend, workspace } = tenancy;
  const { createSkill: skill } = await backend.send(createSkillMutation, {
    workspace: workspace.id,
    input: {
      name: skillNameOf(mcpServer),
      description: `All tools of ${mcpServer}`,
      tools: [{ mcpServer, tool: '*' }],
    },
  });
  await addToEveryone(tenancy, skill.id);
  return { skill: skill.name, role: everyone };
}

/** Puts a skill into the role for everyone, and makes the role when it is missing. Returns whether the skill was not in it. */
export async function addToEveryone(tenancy: Tenancy, skill: string): Promise<boolean> {
  const { backend, workspace } = tenancy;
  const { workspace: found } = await backend.send(roleQuery, { workspace: workspace.id, name: everyone });
  if (found?.role != null) return await addToRole(tenancy, found.role, skill);
  const input = { name: everyone, description: 'Skills for every agent', skills: [skill] };
  await backend.send(createRoleMutation, { workspace: workspace.id, input });
  return true;
}

/** Returns whether the skill was not in the role. */
export async function addToRole({ backend, workspace }: Tenancy, role: RoleDetails, skill: string): Promise<boolean> {
  const skills = role.skills.map(({ id }) => id);
  if (skills.includes(skill)) return false;
  const input = { skills: [...skills, skill], ifVersion: role.version };
  await backend.send(updateRoleMutation, { workspace: workspace.id, id: role.id, input });
  return true;
}

/** Names of MCP servers may have capitals and underscores, which names of skills may not. */
export function skillNameOf(mcpServer: string): string {
  const name = mcpServer
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return name === '' ? 'tools' : name;
}

/** Asks a person, if there is one. */
export async function wantsShare(mcpServer: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.interactive) return false;
  return await confirmed(
    `Let agents use all its tools? This makes the skill "${skillNameOf(mcpServer)}" in the role "${everyone}".`,
  );
}
