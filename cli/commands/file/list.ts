import * as Args from '@oclif/core/args';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fetchFiles } from '../../objects/files.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { table } from '../../output/table.ts';

export default class FileList extends SvcCommand {
  static override summary = 'List the files of a skill.';
  static override aliases = ['files:list'];
  static override examples = [
    { description: 'The files of one skill', command: '<%= config.bin %> file list echo' },
    {
      description: 'With download addresses, valid for five minutes',
      command: '<%= config.bin %> file list echo --json',
    },
  ];
  static override args = {
    skill: Args.string({ description: 'Name or id of the skill', required: true, name: 'SKILL' }),
  };
  static override flags = {
    workspace: workspaceFlag('Workspace of the skill.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FileList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const { skill, files } = await fetchFiles(backend, workspace.id, args.skill);
    terminal.json({ skill: skill.name, files });
    terminal.result(
      files.length === 0
        ? `${skill.name} has no files. Add one: svc file add ${skill.name} FILE`
        : table(
            ['PATH', 'BYTES', 'SHA256'],
            files.map(({ path, sizeBytes, digest }) => [path, String(sizeBytes), digest.slice(0, 12)]),
            terminal.columns,
          ),
    );
  }
}
