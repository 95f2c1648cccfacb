import { withoutKeys } from '../../contracts/keys.ts';
import { type SkillsSeen, skillsSeenName } from '../../contracts/skills-seen.ts';
import { isAvailable } from '../catalogue/availability.ts';
import type { Role, Skill } from '../catalogue/catalogue.ts';
import { explainHidden, explainSkill, names } from './explain.ts';
import { formatCursor, parseCursor } from './page.ts';
import { type ToolText, told } from './tool-text.ts';
import { isActive, isDisclosed, isOfKey, isUsable, permittedTools, type View } from './view.ts';

const pageMaxSkills = 50;
const descriptionMaxChars = 500;
/** Enough for a person to know whose skills these are. */
const namesMax = 10;

export interface ListSkillsArguments {
  readonly query?: unknown;
  readonly cursor?: unknown;
}

/** Lists the skills of the active roles compactly, and names the other roles. */
export function listSkills(view: View, { query, cursor }: ListSkillsArguments): ToolText {
  const after = parseCursor(cursor);
  const asked = typeof query === 'string' ? query.trim() : '';
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const usable = view.catalogue.skills.filter((skill) => isUsable(view, skill) && holdsAll(skill, words));
  const rest = usable.filter(({ name }) => after === null || name > after);
  const page = rest.slice(0, pageMaxSkills);
  const lines = page.map((skill) => describe(view, skill));
  const parts = [heading(usable.length, asked), ...lines, goOn(page, rest), describeRoles(view)];
  return { ...told(parts.filter(Boolean).join('\n\n')), meta: { [skillsSeenName]: seen(view, usable) } };
}

function seen(view: View, usable: readonly Skill[]): SkillsSeen {
  const named = (skills: readonly Skill[]) => skills.slice(0, namesMax).map(({ name }) => name);
  return {
    skills: usable.length,
    tools: new Set(usable.flatMap((skill) => permittedTools(view, skill))).size,
    names: named(usable),
    unavailable: named(usable.filter((skill) => !isAvailable(skill))),
  };
}

function heading(count: number, asked: string): string {
  const which = asked === '' ? '' : ` with "${withoutKeys(asked).slice(0, 200)}"`;
  if (count === 0) return `No skill${which} is usable in this session.`;
  return `${count} ${count === 1 ? 'skill' : 'skills'}${which}. Load one with load_skill to get its instructions and tools.`;
}

function describe(view: View, skill: Skill): string {
  const roles = skill.roles.filter((role) => isActive(view, role));
  const permitted = permittedTools(view, skill);
  const count = permitted.length;
  const tools = count === 0 ? 'instructions without tools' : `${count} ${count === 1 ? 'tool' : 'tools'}`;
  const loaded = isDisclosed(view, skill) ? ', loaded' : '';
  const explanation = [explainSkill(skill, permitted), explainHidden(view, skill)].filter(Boolean).join(' ');
  const state = isAvailable(skill) ? `Available, ${tools}${loaded}.` : `Not available${loaded}.`;
  const description = skill.description === '' ? '' : `: ${skill.description.slice(0, descriptionMaxChars)}`;
  return [
    `- "${skill.name}" (role ${names(roles)})${description}`,
    `  ${state}${explanation === '' ? '' : ` ${explanation}`}`,
  ].join('\n');
}

function goOn(page: readonly Skill[], rest: readonly Skill[]): string {
  const last = page.at(-1);
  if (last === undefined || page.length === rest.length) return '';
  return `${rest.length - page.length} more: call list_skills with the cursor "${formatCursor(last.name)}".`;
}

/** Roles that give nothing, so that nothing is silently missing. */
function describeRoles(view: View): string {
  const own = view.catalogue.roles.filter((role) => isOfKey(view.principal, role));
  if (own.length === 0) return view.principal.roles === null ? noRoles : noneOfKey;
  const inactive = own.filter((role) => !isActive(view, role));
  const empty = own.filter((role) => isActive(view, role) && role.skills.length === 0);
  const lines = [
    sentence(
      'Active, but without any skill',
      empty,
      ' Repair: an administrator puts skills into it: svc role update NAME --add-skill SKILL.',
    ),
    sentence(
      'Not active, and can be activated with activate_role',
      inactive.filter((role) => role.enabled),
    ),
    sentence(
      'Disabled by an administrator',
      inactive.filter((role) => !role.enabled),
    ),
  ];
  return lines.filter(Boolean).join('\n');
}

const noRoles = 'The workspace has no roles yet. Repair: an administrator creates one, with svc role create.';
const noneOfKey =
  'None of the roles of this key exists any more. Repair: an administrator gives it roles, with svc keys update.';

function sentence(what: string, roles: readonly Role[], repair = ''): string {
  return roles.length === 0 ? '' : `${what}: ${names(roles.slice(0, pageMaxSkills))}.${repair}`;
}

function holdsAll({ name, description }: Skill, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${name} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
