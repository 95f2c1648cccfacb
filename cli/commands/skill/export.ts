import { join } from 'node:path';
import * as Args from '@oclif/core/args';
import { skillTextName } from '../../../stack/skills/skill-folder.ts';
import { type FolderChanges, planFolder, writeFolder } from '../../../stack/skills/write-folder.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { makeSure } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchWhole } from '../../objects/skill-folders.ts';
import { getSkillParts } from '../../objects/skills.ts';

export default class SkillExport extends SvcCommand {
  static override summary = 'Write a skill to a folder with a SKILL.md (Agent Skills).';
  static override description =
    'svc skill import reads the folder back to the same skill. In a folder that has a SKILL.md already, the command first lists what it replaces and removes.';
  static override aliases = ['skills:export'];
  static override examples = [
    { description: 'To a new folder with the name of the skill', command: '<%= config.bin %> skill export echo' },
    { description: 'To another folder', command: '<%= config.bin %> skill export echo ./skills/echo' },
  ];
  static override args = {
    name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }),
    dir: Args.string({ description: 'Folder; default: a new one with the name of the skill', name: 'FOLDER' }),
  };
  static override flags = { yes: yesFlag, workspace: workspaceFlag('Workspace of the skill.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillExport);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const parts = await getSkillParts(tenancy, args.name);
    const { id, name } = parts;
    const folder = args.dir ?? name;
    const { skill, bytesOf } = await fetchWhole(tenancy, parts);
    const changes = planFolder(folder, skill);
    const affected = [
      ...changes.replaced.map((path) => `- "${join(folder, path)}" is replaced.`),
      ...changes.removed.map((path) => `- "${join(folder, path)}" is removed.`),
    ];
    if (affected.length > 0) {
      await makeSure(terminal, {
        what: affected.join('\n'),
        question: `Change ${affected.length === 1 ? 'a file' : `${affected.length} files`} in "${folder}"?`,
        declined: 'Nothing was written.',
        yes: flags.yes,
      });
    }
    await writeFolder(folder, skill, { changes, bytesOf });
    terminal.json({ id, name, folder, files: [skillTextName, ...skill.files.map(({ path }) => path)], ...changes });
    terminal.result(describe(folder, changes));
  }
}

function describe(folder: string, { added, replaced, removed }: FolderChanges): string {
  const counts = [
    ...(added.length === 0 ? [] : [`${added.length} added`]),
    ...(replaced.length === 0 ? [] : [`${replaced.length} replaced`]),
    ...(removed.length === 0 ? [] : [`${removed.length} removed`]),
  ];
  if (counts.length === 0) return `Nothing to change: "${folder}" holds the skill as it is.`;
  return `Wrote "${folder}": ${counts.join(', ')}.`;
}
