import * as Args from '@oclif/core/args';
import { removeSkillMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { agreeToRemoval } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getSkillParts } from '../../objects/skills.ts';

export default class SkillRemove extends SvcCommand {
  static override summary = 'Remove a skill with its instructions and files. Roles lose it.';
  static override aliases = ['skills:remove'];
  static override examples = [
    { description: 'Remove one', command: '<%= config.bin %> skill remove echo' },
    { description: 'Without a question, in a script', command: '<%= config.bin %> skill remove echo --yes' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { yes: yesFlag, workspace: workspaceFlag('Workspace of the skill.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillRemove);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const { id, name, roles, files, version } = await getSkillParts(tenancy, args.name);
    await agreeToRemoval(terminal, {
      subject: `the skill "${name}"`,
      affected: [
        ...roles.map((role) => `The role "${role.name}" loses it.`),
        ...(files.length === 0
          ? []
          : [`Its ${files.length} ${files.length === 1 ? 'file goes' : 'files go'} with it.`]),
      ],
      yes: flags.yes,
    });
    await tenancy.backend.send(removeSkillMutation, {
      ...{ workspace: tenancy.workspace.id, id, ifVersion: version },
      ifUsedBy: roles.map((role) => role.id),
    });
    terminal.json({ id, name, removed: true, affected: roles.map((role) => ({ kind: 'role', ...role })) });
    terminal.result(`Removed skill ${name}.`);
  }
}
