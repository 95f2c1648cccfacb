import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { apply, type Change } from '../../../stack/apply/apply.ts';
import type { ToolRef } from '../../../stack/skills/skill-text.ts';
import { allowMissingFlag, interruption, repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { confirmed } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchServers } from '../../objects/servers.ts';
import { readSkillToImport, withTools } from '../../objects/skill-folders.ts';
import { checkToolRefs, parseToolRef } from '../../objects/tool-refs.ts';
import { describeChange, tellChanges, tellLeftOut } from '../../output/changes.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class SkillImport extends SvcCommand {
  static override summary =
    'Create skills from folders with a SKILL.md (Agent Skills), or make them equal to the folders.';
  static override description =
    'The name, description and instructions come from the SKILL.md, tools from its allowed-tools where they are MCPSERVER/TOOL, and files from the rest of the folder. Importing again changes nothing.';
  static override aliases = ['skills:import'];
  static override examples = [
    {
      description: 'With all tools of an MCP server',
      command: "<%= config.bin %> skill import ./skills/read-documents --tool 'files/*'",
    },
    {
      description: 'Several; show only what would change',
      command: '<%= config.bin %> skill import ./skills/* --dry-run',
    },
    {
      description: 'Make an existing skill equal to its folder',
      command: '<%= config.bin %> skill import ./echo --replace',
    },
  ];
  static override strict = false;
  static override args = { dir: Args.string({ description: 'Folders with a SKILL.md', name: 'FOLDER' }) };
  static override flags = {
    tool: repeatedFlag('A further tool of each skill; * stands for any characters. May be repeated.', 'MCPSERVER/TOOL'),
    replace: Flags.boolean({ char: 'y', summary: 'Change skills that exist, without a question.' }),
    'dry-run': Flags.boolean({ summary: 'Show what would change without changing it.' }),
    'allow-missing': allowMissingFlag,
    workspace: workspaceFlag('Workspace they belong to.'),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(SkillImport);
    const terminal = this.terminal(flags);
    if (argv.length === 0)
      throw new SvcError('invalid_input', 'Name at least one folder.', { hint: 'svc skill import ./skills/echo' });
    const tools = (flags.tool ?? []).map((text) => parseToolRef('--tool', text));
    const found = argv.map((folder) => readSkillToImport(String(folder)));
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const mcpServers = new Set((await fetchServers(backend, workspace.id)).map(({ name }) => name));
    const complete = found.map((one) => withTools(one, tools, mcpServers));
    const leftOut = complete.flatMap((one) => one.leftOut);
    tellLeftOut(leftOut, terminal);
    const skills = complete.map(({ skill }) => skill);
    const wanted = {
      workspace: workspace.name,
      sections: new Set(['skills'] as const),
      mcpServers: [],
      roles: [],
      skills,
    };
    const { 'dry-run': dryRun, replace, 'allow-missing': allowMissing } = flags;
    const agree = async (planned: readonly Change[]) => {
      const toolsOf = new Map(skills.map((skill) => [skill.name, skill.tools ?? []]));
      const added = planned.flatMap((change) =>
        change.action === 'create' ? (toolsOf.get(change.name) ?? []) : addedTools(change),
      );
      await checkToolRefs(tenancy, added, { allowMissing });
      if (!replace) await agreeToReplace(planned, terminal);
    };
    const files = [{ wanted, mistakes: [], leftOut }];
    const { changes } = await apply({ backend, files, dryRun, agree, signal });
    terminal.json({ changes, leftOut });
    tellChanges(changes, dryRun, terminal);
    const created = changes.find(({ action }) => action === 'create');
    if (created !== undefined && !dryRun) {
      terminal.talk(`Next, let agents use ${changes.length === 1 ? 'it' : 'them'}: svc skill publish ${created.name}`);
    }
  }
}

function addedTools({ differences }: Change): readonly ToolRef[] {
  return differences.flatMap(({ field, from, to }) => {
    if (field !== 'tools' || !Array.isArray(to)) return [];
    const added = to.filter((tool) => !Array.isArray(from) || !from.includes(tool));
    return added.map((text) => parseToolRef('--tool', text));
  });
}

async function agreeToReplace(planned: readonly Change[], terminal: Terminal): Promise<void> {
  const existing = planned.filter(({ action }) => action === 'update');
  if (existing.length === 0) return;
  const names = existing.map(({ name }) => `"${name}"`).join(', ');
  const differs =
    existing.length === 1 ? `The skill ${names} exists and differs` : `The skills ${names} exist and differ`;
  if (!terminal.interactive) {
    const fields = [...new Set(existing.flatMap((change) => change.fields))].join(', ');
    throw new SvcError('conflict', `${differs}: ${fields}. Nothing was changed.`, {
      hint: 'Show the differences: add --dry-run. Make the skills equal to their folders: add --replace.',
    });
  }
  for (const change of planned) if (change.action !== 'none') terminal.talk(describeChange(change, terminal));
  if (
    await confirmed(
      `${differs}. Make ${existing.length === 1 ? 'it equal to its folder' : 'them equal to their folders'}?`,
    )
  )
    return;
  throw new SvcError('cancelled', 'Nothing was changed.');
}
