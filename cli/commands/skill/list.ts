import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchSkills, type Skill } from '../../objects/skills.ts';
import { briefly } from '../../output/reason.ts';
import { skillStates, stateOfSkill } from '../../output/skill.ts';
import { details, table } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class SkillList extends SvcCommand {
  static override summary = 'List skills, and why a skill is not available.';
  static override aliases = ['skills:list'];
  static override examples = [
    { description: 'All skills', command: '<%= config.bin %> skill list' },
    {
      description: 'Of another workspace, for a script',
      command: '<%= config.bin %> skill list --workspace Acme --json',
    },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SkillList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const skills = await fetchSkills(backend, workspace.id);
    terminal.json({
      skills: skills.map((skill) => ({
        id: skill.id,
        name: skill.name,
        state: stateOfSkill(skill),
        mcpServers: skill.mcpServers.map((server) => server.name),
        tools: skill.tools.length,
        available: skill.available,
        reason: skill.reason,
        published: skill.roles.length > 0,
        roles: skill.roles.map(({ name }) => name),
      })),
    });
    terminal.result(
      skills.length === 0
        ? 'There are no skills yet. Create one: svc skill create NAME --tool MCPSERVER/TOOL'
        : describeSkills(skills, terminal),
    );
  }
}

function describeSkills(skills: readonly Skill[], terminal: Terminal): string {
  const rows = skills.map((skill) => {
    const { colour, word } = skillStates[stateOfSkill(skill)];
    const servers = skill.mcpServers.map((server) => server.name).join(', ');
    const roles = skill.roles.map(({ name }) => name).join(', ') || terminal.paint('yellow', 'none (draft)');
    return [skill.name, terminal.paint(colour, word), String(skill.tools.length), servers, roles];
  });
  const told = skills.flatMap((skill) => {
    const text = skill.reason === null ? adviceOf(skill) : briefly(skill.reason);
    return text === '' ? [] : [{ name: skill.name, text }];
  });
  return [
    table(['NAME', 'STATE', 'TOOLS', 'MCP SERVERS', 'ROLES'], rows, terminal.columns),
    ...(told.length === 0 ? [] : [details(told, terminal)]),
  ].join('\n\n');
}

function adviceOf(skill: Skill): string {
  if (stateOfSkill(skill) !== 'without_tools') {
    return skill.roles.length > 0 ? '' : `No agent sees it. Put it into a role: svc skill publish ${skill.name}`;
  }
  return `It has no tools to call. Add one: svc skill update ${skill.name} --add-tool MCPSERVER/TOOL`;
}
