import * as Flags from '@oclif/core/flags';
import { createKeyMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { parseMoment } from '../../moment.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';
import { tenancyOf } from '../../platform.ts';
import { fetchRoles, roleNamed } from '../../roles.ts';

export default class KeysCreate extends SvcCommand {
  static override summary = 'Create an API key for an agent. The key is shown once.';
  static override aliases = ['key:create'];
  static override examples = [
    { description: 'A key that sees every role', command: '<%= config.bin %> keys create --name laptop' },
    {
      description: 'A key for one role that ends in 30 days',
      command: '<%= config.bin %> keys create --name reports --role Reader --expires 30d',
    },
  ];
  static override flags = {
    name: Flags.string({ summary: 'Name of the key.', helpValue: 'NAME', required: true }),
    workspace: workspaceFlag('Workspace it belongs to.'),
    role: Flags.string({
      summary: 'Role that the key may use, by name or id. Repeat it for several. Default: all.',
      helpValue: 'ROLE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    expires: Flags.string({ summary: 'When it expires: 30d, 12h or a date. Default: never.', helpValue: 'TIME' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysCreate);
    const terminal = this.terminal(flags);
    const expiresAt = flags.expires === undefined ? null : parseMoment('--expires', flags.expires, 'future');
    const { backend, workspace } = await tenancyOf(flags);
    const known = flags.role === undefined ? [] : await fetchRoles(backend, workspace.id);
    const roles = flags.role?.map((name) => roleNamed(known, name)) ?? null;
    const answer = await backend.send(createKeyMutation, {
      workspace: workspace.id,
      input: { name: flags.name, expiresAt, roles: roles?.map((role) => role.id) ?? null },
    });
    const { key, secret } = answer.createKey;
    terminal.json({
      id: key.id,
      name: key.name,
      key: secret,
      prefix: 'SVA_',
      workspace,
      roles: roles === null ? 'all' : roles.map(({ id, name }) => ({ id, name })),
      expiresAt: isoOrNull(key.expiresAt),
    });
    terminal.result(secret);
    terminal.talk('This key is shown only once. Keep it in a safe place.');
    // When the key goes to a program or a file, the progress output must not show it.
    terminal.talk(`Try it: SVC_API_KEY=${terminal.isSeen ? secret : '…'} svc keys test`);
  }
}
