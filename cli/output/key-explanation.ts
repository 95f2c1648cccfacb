import {
  countUsable,
  type ExplainedRole,
  type ExplainedSkill,
  groupGaps,
  whyOf,
} from '../../services/contracts/explain-key.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import type { Explanation, Gap } from '../keys/explain-key.ts';
import { disclosureWords } from '../keys/key-disclosure.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { hang, wrapped } from './width.ts';

/** Skills of one role in the text; --json has all. */
const skillsMax = 20;
const namesMax = 8;

export function describeExplanation(explanation: Explanation, terminal: Terminal): string {
  return [
    heading(explanation, terminal),
    ...explanation.roles.filter(({ enabled }) => enabled).map((role) => describeRole(role, terminal)),
    ...describeGaps(explanation.unusable, terminal),
  ].join('\n\n');
}

function heading(explanation: Explanation, terminal: Terminal): string {
  const { key, workspace, accepted } = explanation;
  const { skills, availableSkills, tools } = countUsable(explanation);
  const verdict = accepted
    ? `An agent with it can use ${availableSkills} of ${counted(skills, 'skill')}, with ${counted(tools, 'tool')}. Its list of tools holds ${listed[key.disclosure]}.`
    : 'The platform refuses this key, so an agent with it can use nothing.';
  return wrapped(`The key ${key.name} (${key.hint}) belongs to the workspace ${workspace}. ${verdict}`, terminal);
}

const listed = {
  skills: `the tools ${disclosureWords.skills}`,
  all: `${disclosureWords.all} of them from the start`,
} as const;

function describeRole({ name, skills }: ExplainedRole, terminal: Terminal): string {
  const [lacking, available] = [skills.filter((one) => !one.available), skills.filter((one) => one.available)];
  const shown = [...lacking, ...available].slice(0, skillsMax);
  const rows = shown.map((skill) => [skill.name, stateOf(skill, terminal), namesOf(skill.tools)]);
  const more = skills.length - shown.length;
  return [
    `Role ${oneLine(name)}: ${counted(skills.length, 'skill')}`,
    ...(rows.length === 0 ? [] : [table(['SKILL', 'STATE', 'TOOLS'], rows, terminal.columns)]),
    ...(more === 0 ? [] : [`and ${more} more; --json lists all`]),
  ].join('\n');
}

function stateOf({ available, tools }: ExplainedSkill, { paint }: Terminal): string {
  if (!available) return paint('red', 'unavailable');
  return tools.length === 0 ? paint('yellow', 'without tools') : paint('green', 'available');
}

const words: Readonly<Record<Gap['kind'], string>> = {
  key: 'Key',
  workspace: 'Workspace',
  role: 'Role',
  skill: 'Skill',
  tool: 'Tool',
  mcpServer: 'MCP server',
};

/** Gaps of one kind with one reason are one paragraph. */
function describeGaps(gaps: readonly Gap[], terminal: Terminal): readonly string[] {
  const groups = groupGaps(gaps);
  if (groups.length === 0) return [];
  const paragraphs = groups.map((group) => describeGroup(group, terminal));
  return [['What an agent with it cannot use, and what would change it:', ...paragraphs].join('\n')];
}

function describeGroup(group: readonly Gap[], terminal: Terminal): string {
  const [first] = group;
  if (first === undefined) return '';
  const subject = `${words[first.kind]}${group.length > 1 ? 's' : ''} ${namesOf(group.map(({ name }) => name))}`;
  const example = group.length > 1 ? `For ${first.name}: ` : '';
  return hang(
    { head: '- ', text: oneLine(`${subject}: ${whyOf(group)} ${example}${first.change}`), indent: 2 },
    terminal,
  );
}

function namesOf(names: readonly string[]): string {
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  return names.slice(0, namesMax).join(', ') + more;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
