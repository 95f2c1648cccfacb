import { isExpected } from '../catalogue/availability.ts';
import type { Skill, Tool } from '../catalogue/catalogue.ts';
import { skillsMax, withSkill } from '../sessions/disclosure.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { explainHidden, explainInactive, explainSkill, explainUnknownSkill } from './explain.ts';
import { describeFiles } from './read-skill-file.ts';
import { failed, type ToolText, told } from './tool-text.ts';
import { findSkill, isUsable, permittedTools, type View } from './view.ts';

/** Beyond this length, tools are only named: a model could not read more definitions anyway. */
const definitionsMaxChars = 1024 * 1024;

/**
 * Discloses a skill to the session. The answer contains everything that a client needs if it does not list tools again.
 */
export async function loadSkill(
  view: View & { readonly session: Session },
  nameOrId: unknown,
  sessions: Pick<Sessions, 'change'>,
): Promise<ToolText> {
  if (typeof nameOrId !== 'string' || nameOrId === '') return failed('Give the name of a skill: {"skill": "…"}.');
  const skill = findSkill(view, nameOrId);
  if (skill === null) return failed(explainUnknownSkill(nameOrId));
  if (!isUsable(view, skill)) return failed(explainInactive(view, skill));
  if (view.session.disclosure.skills.length >= skillsMax) {
    return failed(`This session has loaded ${skillsMax} skills, which is the limit. Begin a new session.`);
  }
  await sessions.change(view.session, (present) => ({
    ...present,
    disclosure: withSkill(present.disclosure, skill.id),
  }));
  const tools = permittedTools(view, skill);
  const explanation = [explainSkill(skill, tools), explainHidden(view, skill)].filter(Boolean).join(' ');
  const files = describeFiles(skill);
  if (isExpected(skill)) return told(...[instructions(skill), definitions(tools), files, explanation].filter(Boolean));
  return failed(
    ...[instructions(skill), files].filter(Boolean),
    `The tools of this skill are not available now. ${explanation} The skill stays loaded: its tools are listed as soon as they are available.`,
  );
}

function instructions({ name, description, instructions: text }: Skill): string {
  return [`# ${name}`, description, text].filter(Boolean).join('\n\n');
}

function definitions(tools: readonly Tool[]): string {
  const shown: string[] = [];
  const named: string[] = [];
  let chars = 0;
  for (const { name, definition } of tools) {
    if (definition === null) continue;
    chars += definition.length;
    if (chars <= definitionsMaxChars) shown.push(definition);
    else named.push(`"${name}"`);
  }
  const rest = named.length === 0 ? '' : `\nFurther tools, whose definitions are in tools/list: ${named.join(', ')}.`;
  return `Tools, to be called by name or through call_tool:\n[${shown.join(',\n')}]${rest}`;
}
