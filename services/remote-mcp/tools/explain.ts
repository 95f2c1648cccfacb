import { type Lack, lacksOf, missingToolsOf } from '../catalogue/availability.ts';
import type { Role, Skill, Tool } from '../catalogue/catalogue.ts';
import { isOfKey, type View } from './view.ts';

/** Why a skill's tools can't be used, and the repair; empty if they can. */
export function explainSkill(skill: Skill): string {
  return sentences([...lacksOf(skill), ...missingToolsOf(skill), ...unlistableTools(skill)]);
}

/** Why a tool can't be called now, although the session may use its skill. */
export function explainUnavailable({ name, mcpServer }: Tool, skill: Skill | null, waitedMs = 0): string {
  const waited = waitedMs === 0 ? '' : ` It was waited for during ${Math.round(waitedMs / 1000)} s.`;
  const why = skill === null ? sentences(lacksOf({ mcpServers: [mcpServer] })) : explainSkill(skill);
  return `The tool "${name}"${skill === null ? '' : ` of the skill "${skill.name}"`} is not available now.${waited} ${why}`;
}

/** The skill may exist, but not for this key. */
export function explainUnknownSkill(nameOrId: string): string {
  return `There is no skill "${nameOrId.slice(0, 200)}" for this key. list_skills lists the skills of the key.`;
}

/** Why a skill that belongs to the key is in no active role. */
export function explainInactive({ principal }: Pick<View, 'principal'>, skill: Skill): string {
  const roles = skill.roles.filter((role) => isOfKey(principal, role));
  const enabled = roles.filter((role) => role.enabled);
  if (enabled.length === 0)
    return `The skill "${skill.name}" is only in roles that are disabled: ${names(roles)}. Ask an administrator.`;
  return `The skill "${skill.name}" is in no active role of this session. Activate one with activate_role: ${names(enabled)}.`;
}

export function names(roles: readonly Role[]): string {
  return roles.map(({ name }) => `"${name}"`).join(', ');
}

function unlistableTools(skill: Skill): readonly Lack[] {
  return skill.tools.flatMap((tool) =>
    tool.definition !== null
      ? []
      : [
          {
            what: `The tool "${tool.name}" is not listed, because its MCP server "${tool.mcpServer.name}" describes it wrongly.`,
            repair:
              'It can still be called with call_tool. Mend the MCP server: a tool needs an inputSchema of type object.',
          },
        ],
  );
}

function sentences(lacks: readonly Lack[]): string {
  return lacks.map(({ what, repair }) => `${what} Repair: ${repair}`).join(' ');
}
