import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { filesOfSkillMaxBytes } from '../../../services/contracts/workspace-limits.ts';
import { readBounded, unreadable } from '../../../stack/machine/bounded-file.ts';
import { addFile } from '../../../stack/skills/save-files.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fetchFiles } from '../../objects/files.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { refuseSecret } from '../../typed/secret-file.ts';

export default class FileAdd extends SvcCommand {
  static override summary = 'Add a file to a skill, or replace the file with the same path.';
  static override aliases = ['files:add'];
  static override examples = [
    { description: 'Under its own name', command: '<%= config.bin %> file add echo ./forms.md' },
    {
      description: 'Under the path that the instructions name',
      command: '<%= config.bin %> file add echo ./forms.md --as references/forms.md',
    },
  ];
  static override args = {
    skill: Args.string({ description: 'Name or id of the skill', required: true, name: 'SKILL' }),
    file: Args.string({ description: 'File to add', required: true, name: 'FILE' }),
  };
  static override flags = {
    as: Flags.string({ summary: 'Path of the file in the skill; default: its name.', helpValue: 'PATH' }),
    workspace: workspaceFlag('Workspace of the skill.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FileAdd);
    const terminal = this.terminal(flags);
    const bytes = await read(args.file);
    const { backend, workspace } = await tenancyOf(flags);
    const { skill, files } = await fetchFiles(backend, workspace.id, args.skill);
    const path = flags.as ?? basename(args.file);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const file = { path, digest, sizeBytes: bytes.byteLength };
    const replaced = files.find((present) => present.path === path.normalize('NFC'))?.digest ?? '';
    await addFile(backend, { workspace: workspace.id, skill: skill.id }, { ...file, replaced }, bytes);
    terminal.json({ skill: skill.name, ...file });
    terminal.result(`Added ${path} to ${skill.name}: ${bytes.byteLength} bytes.`);
  }
}

async function read(file: string): Promise<Uint8Array> {
  refuseSecret(file);
  const { size } = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  // A skill cannot hold a larger file, so it is not read.
  if (size > filesOfSkillMaxBytes) throw new SvcError('too_large', `"${file}" is too large: it has ${size} bytes.`);
  return readBounded(file, { sizeMaxBytes: filesOfSkillMaxBytes });
}
