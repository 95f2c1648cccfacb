import * as Args from '@oclif/core/args';
import { removeRoleMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { agreeToRemoval } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getRole } from '../../objects/roles.ts';

export default class RoleRemove extends SvcCommand {
  static override summary = 'Remove a role. Its skills stay; keys that are limited to it lose it.';
  static override aliases = ['roles:remove'];
  static override examples = [
    { description: 'Remove one', command: '<%= config.bin %> role remove Reader' },
    { description: 'Without a question, in a script', command: '<%= config.bin %> role remove Reader --yes' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { yes: yesFlag, workspace: workspaceFlag('Workspace of the role.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RoleRemove);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const { id, name, keys, version } = await getRole(tenancy, args.name);
    await agreeToRemoval(terminal, {
      subject: `the role "${name}"`,
      affected: keys.map((key) =>
        key.roles?.length === 1
          ? `The key "${key.name}" has no other role: its agents see no skills any more.`
          : `The key "${key.name}" loses it.`,
      ),
      yes: flags.yes,
    });
    await tenancy.backend.send(removeRoleMutation, {
      ...{ workspace: tenancy.workspace.id, id, ifVersion: version },
      ifUsedBy: keys.map((key) => key.id),
    });
    terminal.json({
      ...{ id, name, removed: true },
      affected: keys.map((key) => ({ kind: 'key', id: key.id, name: key.name })),
    });
    terminal.result(`Removed role ${name}.`);
  }
}
