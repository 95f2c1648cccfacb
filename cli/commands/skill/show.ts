import * as Args from '@oclif/core/args';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getSkill } from '../../objects/skills.ts';
import { describeSkill, stateOfTool } from '../../output/skill.ts';

export default class SkillShow extends SvcCommand {
  static override summary = 'Show one skill: patterns, tools with their states, roles, files and instructions.';
  static override aliases = ['skills:show'];
  static override examples = [
    { description: 'Show one', command: '<%= config.bin %> skill show echo' },
    { description: 'For a script', command: '<%= config.bin %> skill show echo --json' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the skill.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillShow);
    const terminal = this.terminal(flags);
    const skill = await getSkill(await tenancyOf(flags), args.name);
    const { namedTools, patterns, tools, ...rest } = skill;
    terminal.json({
      ...rest,
      patterns: patterns.map(({ mcpServer, pattern }) => `${mcpServer.name}/${pattern}`),
      tools: tools.map((tool) => ({
        mcpServer: tool.mcpServer.name,
        tool: tool.originalName,
        name: tool.name,
        state: stateOfTool(tool),
      })),
    });
    terminal.result(describeSkill(skill, terminal));
  }
}
