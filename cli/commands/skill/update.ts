import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { suggestion } from '../../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { toolMatcher } from '../../../services/contracts/tool-pattern.ts';
import { refsOfSkill } from '../../../stack/apply/plan-changes.ts';
import { updateSkillMutation } from '../../../stack/client/generated/operations.ts';
import { allowMissingFlag, repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { changedSet, fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getSkillParts, type SkillParts } from '../../objects/skills.ts';
import { checkToolRefs, parseToolRef, textOfRef } from '../../objects/tool-refs.ts';
import { readInstructions } from '../../typed/instructions.ts';

const toolValue = 'MCPSERVER/TOOL';

export default class SkillUpdate extends SvcCommand {
  static override summary = 'Change a skill: its name, description, instructions or tools.';
  static override description = 'Roles keep the skill. Agents see the change at once.';
  static override aliases = ['skills:update'];
  static override examples = [
    {
      description: 'Follow all tools of an MCP server instead of one tool',
      command: "<%= config.bin %> skill update echo --remove-tool everything/echo --add-tool 'everything/*'",
    },
    {
      description: 'New instructions from a file',
      command: '<%= config.bin %> skill update echo --instructions ./echo.md',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    name: Flags.string({ summary: 'New name: a-z, 0-9 and -.', helpValue: 'NAME' }),
    description: Flags.string({ summary: 'What the skill is for, in a sentence.', helpValue: 'TEXT' }),
    instructions: Flags.string({ summary: 'File with instructions (Markdown).', helpValue: 'FILE' }),
    'add-tool': repeatedFlag('A tool to add; * stands for any characters. May be repeated.', toolValue),
    'remove-tool': repeatedFlag('A tool or pattern to remove, as it was added. May be repeated.', toolValue),
    tool: repeatedFlag('A tool; those given replace all tools and patterns. May be repeated.', toolValue, [
      'add-tool',
      'remove-tool',
    ]),
    'allow-missing': allowMissingFlag,
    workspace: workspaceFlag('Workspace of the skill.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillUpdate);
    const terminal = this.terminal(flags);
    const { name, description, tool, 'add-tool': add, 'remove-tool': remove } = flags;
    requireChange({
      name,
      description,
      instructions: flags.instructions,
      'add-tool': add,
      'remove-tool': remove,
      tool,
    });
    const refsOf = (flag: string, texts: readonly string[] | undefined) =>
      texts?.map((text) => textOfRef(parseToolRef(flag, text)));
    const wanted = {
      replace: refsOf('--tool', tool),
      add: refsOf('--add-tool', add),
      remove: refsOf('--remove-tool', remove),
    };
    const instructions = flags.instructions === undefined ? undefined : readInstructions(flags.instructions);
    const tenancy = await tenancyOf(flags);
    const skill = await getSkillParts(tenancy, args.name);
    const before = refsOfSkill(skill);
    const tools = changedSet(before, wanted, (absent) => notInSkill(skill, absent, before));
    const after = { name, description: description?.trim(), instructions, tools };
    const changed = fieldsThatDiffer({ ...skill, tools: before }, after);
    if (changed.length > 0) {
      const parsed = tools?.map((text) => parseToolRef('--tool', text));
      const added = (parsed ?? []).filter((ref) => !before.includes(textOfRef(ref)));
      await checkToolRefs(tenancy, added, { allowMissing: flags['allow-missing'] });
      await tenancy.backend.send(updateSkillMutation, {
        workspace: tenancy.workspace.id,
        id: skill.id,
        input: { name, description, instructions, tools: parsed, ifVersion: skill.version },
      });
    }
    tellChanged(terminal, { kind: 'skill', id: skill.id, name: name ?? skill.name, changed });
  }
}

function notInSkill({ name, patterns }: SkillParts, absent: string, refs: readonly string[]): SvcError {
  const { mcpServer, tool } = parseToolRef('--remove-tool', absent);
  const byPattern = patterns.some((one) => one.mcpServer.name === mcpServer && toolMatcher(one.pattern)(tool));
  const message = byPattern
    ? `The skill "${name}" has the tool "${absent}" by a pattern, which cannot leave out one tool.`
    : `The skill "${name}" does not name "${absent}".`;
  const hint = refs.length === 0 ? 'It names no tools.' : suggestion(absent, refs);
  return new SvcError('not_found', message, { hint });
}
