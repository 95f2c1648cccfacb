import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { createSkillMutation } from '../../../stack/client/generated/operations.ts';
import { allowMissingFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getSkill } from '../../objects/skills.ts';
import { checkToolRefs, parseToolRef } from '../../objects/tool-refs.ts';
import { briefly } from '../../output/reason.ts';
import { readInstructions } from '../../typed/instructions.ts';

export default class SkillCreate extends SvcCommand {
  static override summary = 'Create a skill: tools of MCP servers with instructions for using them.';
  static override aliases = ['skills:create'];
  static override examples = [
    {
      description: 'Two tools of one MCP server',
      command: '<%= config.bin %> skill create read-documents --tool files/read_file --tool files/search_files',
    },
    {
      description: 'All tools of an MCP server, also later ones, and some of another',
      command: "<%= config.bin %> skill create support --tool 'tickets/*' --tool 'mail/read_*'",
    },
    {
      description: 'With a description and instructions from a file',
      command:
        '<%= config.bin %> skill create echo --tool everything/echo --description "Say it back" --instructions ./echo.md',
    },
  ];
  static override args = { name: Args.string({ description: 'Name: a-z, 0-9 and -', required: true, name: 'NAME' }) };
  static override flags = {
    tool: Flags.string({
      summary: 'A tool as MCPSERVER/TOOL; * stands for any characters. May be repeated.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'MCPSERVER/TOOL',
    }),
    description: Flags.string({ summary: 'What the skill is for, in a sentence.', helpValue: 'TEXT', default: '' }),
    instructions: Flags.string({ summary: 'File with instructions (Markdown).', helpValue: 'FILE' }),
    'allow-missing': allowMissingFlag,
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillCreate);
    const terminal = this.terminal(flags);
    const tools = (flags.tool ?? []).map((text) => parseToolRef('--tool', text));
    const instructions = flags.instructions === undefined ? '' : readInstructions(flags.instructions);
    const tenancy = await tenancyOf(flags);
    await checkToolRefs(tenancy, tools, { allowMissing: flags['allow-missing'] });
    const { backend, workspace } = tenancy;
    const { createSkill } = await backend.send(createSkillMutation, {
      workspace: workspace.id,
      input: { name: args.name, description: flags.description, instructions, tools },
    });
    const { id, name, available, reason, ...skill } = await getSkill(tenancy, createSkill.id);
    const names = skill.tools.map((tool) => `${tool.mcpServer.name}/${tool.originalName}`);
    const patterns = skill.patterns.map(({ mcpServer, pattern }) => `${mcpServer.name}/${pattern}`);
    terminal.json({ id, name, available, reason, tools: names, patterns });
    terminal.result(`Created skill ${name}: ${names.length === 0 ? 'no tools yet' : oneLine(names.join(', '))}.`);
    if (reason !== null) terminal.talk(`${terminal.paint('yellow', 'Not available:')} ${oneLine(briefly(reason))}`);
    terminal.talk(`Next, put it into a role: svc role create NAME --skill ${name}`);
  }
}
