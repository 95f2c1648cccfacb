import * as Flags from '@oclif/core/flags';
import { SvcCommand } from '../../command.ts';
import { table } from '../../output/table.ts';
import { defaultWorkspace, tenancyOf } from '../../platform.ts';
import { fetchSkills } from '../../skills.ts';

export default class SkillList extends SvcCommand {
  static override summary = 'List skills, and say of each that is not available why.';
  static override aliases = ['skills:list'];
  static override examples = [
    { description: 'All skills', command: '<%= config.bin %> skill list' },
    {
      description: 'Of another workspace, for a script',
      command: '<%= config.bin %> skill list --workspace Acme --json',
    },
  ];
  static override flags = {
    workspace: Flags.string({ summary: 'Workspace to look at.', default: defaultWorkspace, helpValue: 'NAME' }),
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
        state: skill.available ? 'available' : 'unavailable',
        mcpServers: skill.mcpServers.map((server) => server.name),
        tools: skill.tools.length,
        available: skill.available,
        reason: skill.reason,
      })),
    });
    const rows = skills.map((skill) => [
      skill.name,
      skill.available ? terminal.paint('green', 'available') : terminal.paint('red', 'unavailable'),
      String(skill.tools.length),
      skill.mcpServers.map((server) => server.name).join(', '),
      skill.reason === null ? '' : `${skill.reason.message} ${skill.reason.repair}`,
    ]);
    terminal.result(
      rows.length === 0
        ? 'There are no skills yet. Create one: svc skill create NAME --tool MCPSERVER/TOOL'
        : table(['NAME', 'STATE', 'TOOLS', 'MCP SERVERS', 'REASON'], rows),
    );
  }
}
