import { SvcError } from '../../services/contracts/errors.ts';
import {
  createRoleMutation,
  createSkillMutation,
  roleQuery,
  updateRoleMutation,
} from '../../stack/client/generated/operations.ts';
import { confirmed } from '../consent.ts';
import type { Tenancy } from '../objects/platform.ts';
import { getRole, type RoleDetails } from '../objects/roles.ts';
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
export function addToEveryone(tenancy: Tenancy, skill: string): Promise<boolean> {
  const { backend, workspace } = tenancy;
  return again(async () => {
    const { workspace: found } = await backend.send(roleQuery, { workspace: workspace.id, name: everyone });
    if (found?.role != null) return await changeSkills(tenancy, found.role, { add: skill });
    const input = { name: everyone, description: 'Skills for every agent', skills: [skill] };
    await backend.send(createRoleMutation, { workspace: workspace.id, input });
    return true;
  });
}

export type SkillChange = { readonly add: string } | { readonly remove: string };

/** Puts a skill into a role or takes it out. Other changes of the role stay. Returns whether that was a change. */
export function changeSkillsOf(tenancy: Tenancy, role: string, change: SkillChange): Promise<boolean> {
  return again(async () => await changeSkills(tenancy, await getRole(tenancy, role), change));
}

async function changeSkills({ backend, workspace }: Tenancy, role: RoleDetails, change: SkillChange): Promise<boolean> {
  const before = new Set(role.skills.map(({ id }) => id));
  const after = 'add' in change ? before.union(new Set([change.add])) : before.difference(new Set([change.remove]));
  if (after.size === before.size) return false;
  const input = { skills: [...after], ifVersion: role.version };
  await backend.send(updateRoleMutation, { workspace: workspace.id, id: role.id, input });
  return true;
}

/** Several people may share something in one role at once. Their changes fit together, so each is made on a new reading. */
async function again<Result>(attempt: () => Promise<Result>): Promise<Result> {
  let conflict: SvcError | null = null;
  for (let attempts = 0; attempts < attemptsMax; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      // The conflict says who removed the object that is not found now.
      if (conflict !== null && error instanceof SvcError && error.code === 'not_found') throw conflict;
      if (!(error instanceof SvcError) || error.code !== 'conflict') throw error;
      conflict = error;
    }
  }
  throw conflict;
}

const attemptsMax = 10;

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
