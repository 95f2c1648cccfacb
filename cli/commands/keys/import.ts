import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { importKeyMutation } from '../../../stack/client/generated/operations.ts';
import { environment, SvcCommand, workspaceFlag } from '../../command.ts';
import { disclosureFlag, parseDisclosure } from '../../keys/key-disclosure.ts';
import { readKey, refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRoles, roleNamed } from '../../objects/roles.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';
import { parseMoment } from '../../typed/moment.ts';

export default class KeysImport extends SvcCommand {
  static override summary = 'Import a key of an older installation, which starts with USK, so that its agents keep it.';
  static override aliases = ['key:import'];
  static override examples = [
    { description: 'From a file', command: '<%= config.bin %> keys import laptop --key-file old-key.txt' },
    {
      description: 'From the environment, for one role',
      command: 'SVC_API_KEY=$(cat old-key.txt) <%= config.bin %> keys import reports --role Reader',
    },
  ];
  static override args = { name: Args.string({ description: 'Name of the key', required: true, name: 'NAME' }) };
  static override flags = {
    'key-file': Flags.string({ summary: 'File that holds the key.', helpValue: 'FILE' }),
    role: Flags.string({
      summary: 'Role that the key may use, by name or id. Repeat it for several. Default: all.',
      helpValue: 'ROLE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    disclosure: disclosureFlag(),
    expires: Flags.string({ summary: 'When it expires: 30d, 12h or a date. Default: never.', helpValue: 'TIME' }),
    workspace: workspaceFlag('Workspace it will belong to.'),
  };

  async run(): Promise<void> {
    refuseKeyAsArgument(this.argv);
    const { args, flags } = await this.parse(KeysImport);
    const terminal = this.terminal(flags);
    const expiresAt = flags.expires === undefined ? null : parseMoment('--expires', flags.expires, 'future');
    const disclosure = parseDisclosure(flags.disclosure) ?? null;
    const { backend, workspace } = await tenancyOf(flags);
    const secret = await readKey({ keyFile: flags['key-file'], env: environment, terminal });
    const known = flags.role === undefined ? [] : await fetchRoles(backend, workspace.id);
    const roles = flags.role?.map((name) => roleNamed(known, name)) ?? null;
    const { importKey } = await backend.send(importKeyMutation, {
      workspace: workspace.id,
      input: {
        ...{ name: args.name, expiresAt, disclosure },
        roles: roles?.map(({ id }) => id) ?? null,
      },
      secret: secret.reveal(),
    });
    terminal.json({
      id: importKey.id,
      name: importKey.name,
      hint: importKey.hint,
      prefix: 'USK',
      workspace,
      roles: roles === null ? 'all' : roles.map(({ id, name }) => ({ id, name })),
      expiresAt: isoOrNull(importKey.expiresAt),
    });
    terminal.result(`Imported the key ${importKey.name} (${importKey.hint}). Agents can use it now.`);
    terminal.talk(`Replace it by a new key when that suits you: svc keys rotate ${importKey.name}`);
  }
}
