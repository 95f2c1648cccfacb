import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { removeMemberMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { agreeToRemoval } from '../../consent.ts';
import { chooseHeir } from '../../objects/choose-heir.ts';
import { fateOf, fetchKeysOf, getMember, isAgent, keysOfMemberMax, requireOtherOwner } from '../../objects/members.ts';
import { tenancyOf } from '../../objects/platform.ts';

const whatStays = 'MCP servers, skills and roles stay: they belong to the workspace.';

export default class UserRemove extends SvcCommand {
  static override summary = 'End the membership of a person in a workspace.';
  static override description =
    'The keys of the person are revoked, or given to another member, so that their agents go on. Connected agents are disconnected: they act for the person. MCP servers, skills and roles that the person made stay, and so does the history.';
  static override aliases = ['users:remove'];
  static override examples = [
    { description: 'Remove a member', command: '<%= config.bin %> user remove ann@example.com' },
    {
      description: 'Without a question, from another workspace',
      command: '<%= config.bin %> user remove ann@example.com --workspace Acme --yes',
    },
  ];
  static override args = {
    email: Args.string({ description: 'E-mail address or id', required: true, name: 'EMAIL' }),
  };
  static override flags = {
    'keys-to': Flags.string({
      summary: 'Member who gets the keys. Default: a question at a terminal; without one, they are revoked.',
      helpValue: 'EMAIL',
    }),
    yes: yesFlag,
    workspace: workspaceFlag('Workspace of the member.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UserRemove);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const member = await getMember(tenancy, args.email);
    await requireOtherOwner(tenancy, member);
    const { email } = member.person;
    const named = flags['keys-to'] === undefined ? null : await getMember(tenancy, flags['keys-to']);
    const keys = await fetchKeysOf(tenancy, member);
    const heir = named ?? (flags.yes ? null : await chooseHeir(terminal, tenancy, { member, keys }));
    await agreeToRemoval(terminal, {
      subject: `the member "${email}"`,
      affected: keys.length === 0 ? [] : [...keys.map((key) => fateOf(key, heir)), whatStays],
      yes: flags.yes,
    });
    await backend.send(removeMemberMutation, {
      ...{ workspace: workspace.id, id: member.id, ifVersion: member.version, keysTo: heir?.id ?? null },
      // A longer list was not read to its end.
      ifUsedBy: keys.length < keysOfMemberMax ? keys.map((key) => key.id) : null,
    });
    const affected = keys.map((key) => ({ kind: isAgent(key) ? 'agent' : 'key', id: key.id, name: key.name }));
    terminal.json({ id: member.id, name: email, removed: true, affected });
    terminal.result(`Removed ${email} from ${workspace.name}.`);
  }
}
