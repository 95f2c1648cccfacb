import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { createKeyMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { showNewKey } from '../../connect/show-snippet.ts';
import { chooseDisclosure, disclosureFlag, parseDisclosure } from '../../keys/key-disclosure.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fetchKeys, refuseTaken } from '../../objects/keys.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRoles, roleNamed } from '../../objects/roles.ts';
import { toolListSizes } from '../../objects/tool-list-size.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';
import { parseMoment } from '../../typed/moment.ts';
import { nameFirst } from '../../typed/name-first.ts';

export default class KeysCreate extends SvcCommand {
  static override summary = 'Create an API key for an agent. The key is shown once.';
  static override aliases = ['key:create'];
  static override examples = [
    { description: 'A key that sees every role', command: '<%= config.bin %> keys create laptop' },
    {
      description: 'A key for one role that ends in 30 days',
      command: '<%= config.bin %> keys create reports --role Reader --expires 30d',
    },
    {
      description: 'A key for a client that lists tools once, such as MCP Inspector',
      command: '<%= config.bin %> keys create inspector --disclosure all',
    },
  ];
  static override args = { name: Args.string({ description: 'Name of the key', required: true, name: 'NAME' }) };
  static override flags = {
    name: Flags.string({ summary: 'The name, in another place.', helpValue: 'NAME', hidden: true }),
    workspace: workspaceFlag('Workspace it belongs to.'),
    role: Flags.string({
      summary: 'Role that the key may use, by name or id. Repeat it for several. Default: all.',
      helpValue: 'ROLE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    disclosure: disclosureFlag(),
    expires: Flags.string({ summary: 'When it expires: 30d, 12h or a date. Default: never.', helpValue: 'TIME' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysCreate, nameFirst(this.argv));
    refuseKeyAsArgument([args.name]);
    const terminal = this.terminal(flags);
    const expiresAt = flags.expires === undefined ? null : parseMoment('--expires', flags.expires, 'future');
    const given = parseDisclosure(flags.disclosure);
    const { backend, workspace } = await tenancyOf(flags);
    const known = await fetchRoles(backend, workspace.id);
    const roles = flags.role?.map((name) => roleNamed(known, name)) ?? null;
    // Nobody is asked about a key that is refused.
    if (given === undefined && terminal.interactive) refuseTaken(await fetchKeys(backend, workspace.id), args.name);
    const sizes = await toolListSizes(backend, workspace.id, roles ?? known);
    const disclosure = await chooseDisclosure(terminal, { given, sizes });
    const answer = await backend.send(createKeyMutation, {
      workspace: workspace.id,
      input: { name: args.name, expiresAt, disclosure, roles: roles?.map((role) => role.id) ?? null },
    });
    const { key, secret } = answer.createKey;
    terminal.json({
      id: key.id,
      name: key.name,
      key: secret,
      prefix: 'SVA_',
      workspace,
      roles: roles === null ? 'all' : roles.map(({ id, name }) => ({ id, name })),
      disclosure,
      toolLists: sizes,
      expiresAt: isoOrNull(key.expiresAt),
    });
    showNewKey(secret, terminal);
    // When the key goes to a program or a file, the progress output must not show it.
    terminal.talk(`Try it: SVC_API_KEY=${terminal.isSeen ? secret : '…'} svc keys test`);
  }
}
