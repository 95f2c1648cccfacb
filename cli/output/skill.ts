import { oneLine } from '../../services/contracts/one-line.ts';
import type { SkillDetails } from '../objects/skills.ts';
import { briefly } from './reason.ts';
import { facts, table } from './table.ts';
import type { Terminal } from './terminal.ts';

type ToolOfSkill = SkillDetails['tools'][number];
type ToolState = keyof typeof toolStates;

const toolStates = {
  callable: { colour: 'green', word: 'callable' },
  not_offered: { colour: 'red', word: 'not offered' },
  not_connected: { colour: 'yellow', word: 'MCP server not Connected' },
} as const;

export function stateOfTool({ listed, mcpServer }: ToolOfSkill): ToolState {
  if (mcpServer.status !== 'Connected') return 'not_connected';
  return listed ? 'callable' : 'not_offered';
}

/** The platform calls a skill without tools available, because it needs no MCP server. It still has nothing to call. */
export function stateOfSkill({ available, tools }: SkillState): keyof typeof skillStates {
  if (!available) return 'unavailable';
  return tools.length === 0 ? 'without_tools' : 'available';
}

interface SkillState {
  readonly available: boolean;
  readonly tools: readonly unknown[];
}

export const skillStates = {
  available: { colour: 'green', word: 'available' },
  unavailable: { colour: 'red', word: 'unavailable' },
  without_tools: { colour: 'yellow', word: 'without tools' },
} as const;

/** One skill: facts, then its tools, files and instructions. */
export function describeSkill(skill: SkillDetails, terminal: Terminal): string {
  const { colour, word } = skillStates[stateOfSkill(skill)];
  const rows: [string, string][] = [
    ['name', skill.name],
    ['id', skill.id],
    ...(skill.description === '' ? [] : [['description', oneLine(skill.description)] satisfies [string, string]]),
    ['state', terminal.paint(colour, word)],
  ];
  if (skill.reason !== null) rows.push(['reason', oneLine(briefly(skill.reason))]);
  if (skill.patterns.length > 0) {
    rows.push(['patterns', oneLine(skill.patterns.map((one) => `${one.mcpServer.name}/${one.pattern}`).join(', '))]);
  }
  rows.push(['roles', skill.roles.map(({ name }) => name).join(', ') || 'none, so no agent sees it']);
  return [
    facts(rows, terminal),
    describeTools(skill, terminal),
    ...(skill.files.length === 0 ? [] : [describeFiles(skill, terminal)]),
    ...(skill.instructions === '' ? [] : [`INSTRUCTIONS\n${skill.instructions.trimEnd()}`]),
  ].join('\n\n');
}

function describeTools({ name, tools }: SkillDetails, terminal: Terminal): string {
  if (tools.length === 0) return `It has no tools. Add one: svc skill update ${name} --add-tool MCPSERVER/TOOL`;
  const rows = tools.map((tool) => {
    const { colour, word } = toolStates[stateOfTool(tool)];
    return [`${tool.mcpServer.name}/${tool.originalName}`, terminal.paint(colour, word)];
  });
  return table([`TOOLS (${tools.length})`, 'STATE'], rows, terminal.columns);
}

function describeFiles({ files }: SkillDetails, terminal: Terminal): string {
  const rows = files.map(({ path, sizeBytes }) => [path, String(sizeBytes)]);
  return table([`FILES (${files.length})`, 'BYTES'], rows, terminal.columns);
}
