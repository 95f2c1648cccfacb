import * as Args from '@oclif/core/args';
import { removeSkillFileMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fetchFiles } from '../../objects/files.ts';
import { tenancyOf } from '../../objects/platform.ts';

export default class FileRemove extends SvcCommand {
  static override summary = 'Remove a file from a skill.';
  static override aliases = ['files:remove'];
  static override examples = [
    { description: 'Remove one', command: '<%= config.bin %> file remove echo references/forms.md' },
    { description: 'In another workspace', command: '<%= config.bin %> file remove echo forms.md --workspace Acme' },
  ];
  static override args = {
    skill: Args.string({ description: 'Name or id of the skill', required: true, name: 'SKILL' }),
    path: Args.string({ description: 'Path of the file in the skill', required: true, name: 'PATH' }),
  };
  static override flags = {
    workspace: workspaceFlag('Workspace of the skill.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FileRemove);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const { skill, files } = await fetchFiles(backend, workspace.id, args.skill);
    const ifDigest = files.find(({ path }) => path === args.path.normalize('NFC'))?.digest ?? null;
    await backend.send(removeSkillFileMutation, {
      ...{ workspace: workspace.id, skill: skill.id },
      ...{ path: args.path, ifDigest },
    });
    terminal.json({ skill: skill.name, path: args.path, removed: true });
    terminal.result(`Removed ${args.path} from ${skill.name}.`);
  }
}
