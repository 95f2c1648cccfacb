import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { memberRoles } from '../../../services/contracts/member-roles.ts';
import { inviteMemberMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { parseMemberRole } from '../../objects/members.ts';
import { tenancyOf } from '../../objects/platform.ts';

export default class UserInvite extends SvcCommand {
  static override summary = 'Invite a person to a workspace by mail.';
  static override description =
    'The link in the mail makes the person a member, within seven days. Mail is sent as svc.yaml says (mail.provider); log writes it to the log of the backend. Another invitation replaces the one before.';
  static override aliases = ['users:invite'];
  static override examples = [
    { description: 'Somebody who reads', command: '<%= config.bin %> user invite cleo@example.com' },
    {
      description: 'An editor of another workspace',
      command: '<%= config.bin %> user invite cleo@example.com --role editor --workspace Acme',
    },
  ];
  static override args = { email: Args.string({ description: 'E-mail address', required: true, name: 'EMAIL' }) };
  static override flags = {
    role: Flags.string({ summary: 'What the person may do.', helpValue: memberRoles.join('|'), default: 'viewer' }),
    workspace: workspaceFlag('Workspace to be a member of.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UserInvite);
    const terminal = this.terminal(flags);
    const role = parseMemberRole(flags.role) ?? 'viewer';
    const { backend, workspace } = await tenancyOf(flags);
    const input = { email: args.email, role };
    const { inviteMember } = await backend.send(inviteMemberMutation, { workspace: workspace.id, input });
    const { id, email, url, expiresAt } = inviteMember;
    terminal.json({ id, email, role, workspace, url, expiresAt: new Date(expiresAt).toISOString() });
    terminal.result(`Invited ${email} to ${workspace.name}: ${role}.`);
    terminal.talk(`The link of the mail, for ${email} alone: ${url}`);
  }
}
