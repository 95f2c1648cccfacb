import { type Lack, lacksOf, missingToolsOf } from '../catalogue/availability.ts';
import type { Role, Skill, Tool } from '../catalogue/catalogue.ts';
import { isActive, isOfKey, isUsable, letsPass, permittedTools, type View } from './view.ts';

/** Why a skill's tools can't be used, and the repair; empty if they can. */
export function explainSkill(skill: Skill, tools: readonly Tool[] = skill.tools): string {
  return sentences([...lacksOf(skill), ...missingToolsOf(skill), ...unlistableTools(tools)]);
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

/** Why a tool of a skill of the key is in no active role that lets it pass. */
export function explainInactiveTool(view: View, tool: Tool, skill: Skill): string {
  if (!isUsable(view, skill))
    return explainInactive(view, { ...skill, roles: skill.roles.filter(passing(view, tool)) });
  const roles = skill.roles.filter((role) => isOfKey(view.principal, role) && letsPass(view, role, tool));
  const enabled = roles.filter((role) => role.enabled);
  const own = explainRefused(view, tool, skill);
  if (enabled.length === 0) return `${own} Roles that allow it are disabled: ${names(roles)}. Ask an administrator.`;
  return `${own} Activate a role that allows it with activate_role: ${names(enabled)}.`;
}

/** The rules by which the roles of the key refuse a tool. */
export function explainRefused(view: View, tool: Tool, skill: Skill): string {
  const ofKey = skill.roles.filter((role) => isOfKey(view.principal, role) && !letsPass(view, role, tool));
  const active = ofKey.filter((role) => isActive(view, role));
  return (active.length === 0 ? ofKey : active)
    .slice(0, rolesToldMax)
    .map(
      (role) => `The role "${role.name}" does not allow the tool "${tool.name}" (rule: ${role.rules?.refusal(tool)}).`,
    )
    .join(' ');
}

const rolesToldMax = 5;

/** That rules hide tools of a skill from this session, and whose; empty if they hide none. */
export function explainHidden(view: View, skill: Skill): string {
  const hidden = skill.tools.length - permittedTools(view, skill).length;
  if (hidden === 0) return '';
  const roles = skill.roles.filter((role) => isActive(view, role)).slice(0, rolesToldMax);
  return `The rules of ${roles.length === 1 ? 'the role' : 'the roles'} ${names(roles)} hide ${hidden} of its tools.`;
}

function passing(view: View, tool: Tool): (role: Role) => boolean {
  return (role) => letsPass(view, role, tool);
}

export function names(roles: readonly Role[]): string {
  return roles.map(({ name }) => `"${name}"`).join(', ');
}

function unlistableTools(tools: readonly Tool[]): readonly Lack[] {
  return tools.flatMap((tool) =>
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
