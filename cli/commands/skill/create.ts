import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { instructionsMaxBytes } from '../../../services/contracts/workspace-limits.ts';
import { createSkillMutation } from '../../../stack/client/generated/operations.ts';
import { readBounded } from '../../../stack/machine/bounded-file.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { briefly } from '../../output/reason.ts';
import { oneLine } from '../../output/width.ts';
import { tenancyOf } from '../../platform.ts';
import { refuseSecret } from '../../secret-file.ts';

export default class SkillCreate extends SvcCommand {
  static override summary = 'Create a skill: tools of MCP servers with instructions for using them.';
  static override aliases = ['skills:create'];
  static override examples = [
    {
      description: 'Two tools of one MCP server',
      command: '<%= config.bin %> skill create read-documents --tool files/read_file --tool files/search_files',
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
      summary: 'A tool as MCPSERVER/TOOL; may be repeated.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'MCPSERVER/TOOL',
    }),
    description: Flags.string({ summary: 'What the skill is for, in a sentence.', helpValue: 'TEXT', default: '' }),
    instructions: Flags.string({ summary: 'File with instructions (Markdown).', helpValue: 'FILE' }),
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillCreate);
    const terminal = this.terminal(flags);
    const tools = (flags.tool ?? []).map(parseTool);
    const instructions = flags.instructions === undefined ? '' : readInstructions(flags.instructions);
    const { backend, workspace } = await tenancyOf(flags);
    const answer = await backend.send(createSkillMutation, {
      workspace: workspace.id,
      input: { name: args.name, description: flags.description, instructions, tools },
    });
    const { tools: found, ...skill } = answer.createSkill;
    const names = found.map((tool) => `${tool.mcpServer.name}/${tool.originalName}`);
    terminal.json({ ...skill, tools: names });
    terminal.result(`Created skill ${skill.name}: ${names.length === 0 ? 'no tools yet' : oneLine(names.join(', '))}.`);
    if (skill.reason !== null)
      terminal.talk(`${terminal.paint('yellow', 'Not available:')} ${oneLine(briefly(skill.reason))}`);
    terminal.talk(`Next, put it into a role: svc role create NAME --skill ${skill.name}`);
  }
}

function parseTool(text: string): { readonly mcpServer: string; readonly tool: string } {
  const several = text.split(',');
  if (several.length > 1) {
    throw new SvcError('invalid_input', `--tool takes one tool, not "${text}".`, {
      hint: `Repeat it for each tool: ${several.map((one) => `--tool ${one.trim()}`).join(' ')}`,
    });
  }
  const [, mcpServer, tool] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (mcpServer === undefined || tool === undefined) {
    throw new SvcError('invalid_input', `--tool must be MCPSERVER/TOOL, such as files/read_file, not "${text}".`);
  }
  return { mcpServer, tool };
}

function readInstructions(file: string): string {
  refuseSecret(file);
  const options = { sizeMaxBytes: instructionsMaxBytes, name: `--instructions "${file}"`, takesPipes: true };
  return readBounded(file, options).toString('utf8');
}
