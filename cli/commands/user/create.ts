import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { memberRoles } from '../../../services/contracts/member-roles.ts';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { addMemberMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { parseMemberRole } from '../../objects/members.ts';
import { tenancyOf } from '../../objects/platform.ts';

export default class UserCreate extends SvcCommand {
  static override summary = 'Make a person a member of a workspace, with a role.';
  static override description =
    'Every member may have agents, with keys of their own. A viewer reads. An editor also changes skills and roles, an admin MCP servers, keys and runtimes, and an owner the workspace itself.';
  static override aliases = ['users:create'];
  static override examples = [
    { description: 'Somebody who reads', command: '<%= config.bin %> user create ann@example.com' },
    {
      description: 'An admin of another workspace',
      command: '<%= config.bin %> user create ann@example.com --role admin --workspace Acme',
    },
  ];
  static override args = { email: Args.string({ description: 'E-mail address', required: true, name: 'EMAIL' }) };
  static override flags = {
    role: Flags.string({ summary: 'What the person may do.', helpValue: memberRoles.join('|'), default: 'viewer' }),
    workspace: workspaceFlag('Workspace to be a member of.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UserCreate);
    const terminal = this.terminal(flags);
    const role = parseMemberRole(flags.role) ?? 'viewer';
    const { backend, workspace } = await tenancyOf(flags);
    const input = { email: args.email, role };
    const { addMember } = await backend.send(addMemberMutation, { workspace: workspace.id, input });
    const { id, person } = addMember;
    terminal.json({ id, email: person.email, name: person.name, role, workspace });
    terminal.result(`Made ${person.email} a member of ${workspace.name}: ${role}.`);
    terminal.talk(`A link to sign in: svc user reset ${shellWord(person.email)}`);
  }
}
