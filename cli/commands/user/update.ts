import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { memberRoles } from '../../../services/contracts/member-roles.ts';
import { updateMemberMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { getMember, parseMemberRole } from '../../objects/members.ts';
import { tenancyOf } from '../../objects/platform.ts';

export default class UserUpdate extends SvcCommand {
  static override summary = 'Change the role of a member of a workspace, or suspend the member for a while.';
  static override description = 'A suspended member and the keys of the member are refused, and are kept.';
  static override aliases = ['users:update'];
  static override examples = [
    { description: 'Another role', command: '<%= config.bin %> user update ann@example.com --role owner' },
    { description: 'Refuse a member and the keys', command: '<%= config.bin %> user update ann@example.com --suspend' },
  ];
  static override args = {
    email: Args.string({ description: 'E-mail address or id', required: true, name: 'EMAIL' }),
  };
  static override flags = {
    role: Flags.string({ summary: 'What the person may do.', helpValue: memberRoles.join('|') }),
    suspend: Flags.boolean({ summary: 'Refuse the member and the keys of the member.', exclusive: ['resume'] }),
    resume: Flags.boolean({ summary: 'Accept them again.' }),
    workspace: workspaceFlag('Workspace of the member.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UserUpdate);
    const terminal = this.terminal(flags);
    const { suspend, resume } = flags;
    requireChange({ role: flags.role, suspend, resume });
    const role = parseMemberRole(flags.role);
    const suspended = suspend ? true : resume ? false : undefined;
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const member = await getMember(tenancy, args.email);
    const changed = fieldsThatDiffer({ ...member }, { role, suspended });
    if (changed.length > 0) {
      const input = { role, suspended, ifVersion: member.version };
      await backend.send(updateMemberMutation, { workspace: workspace.id, id: member.id, input });
    }
    tellChanged(terminal, { kind: 'member', id: member.id, name: member.person.email, changed });
  }
}
