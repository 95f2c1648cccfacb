import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { updateIntegrationMutation } from '../../../stack/client/generated/operations.ts';
import { readBounded } from '../../../stack/machine/bounded-file.ts';
import { repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { getIntegration, type Integration } from '../../objects/integrations.ts';
import { tenancyOf } from '../../objects/platform.ts';

/** More than the backend accepts. */
const secretMaxBytes = 4096;

export default class IntegrationUpdate extends SvcCommand {
  static override summary = 'Change the scopes or the OAuth client of an integration. The next connection uses them.';
  static override description =
    'A service that knows no registration needs a client: register it there with the redirect URI that "svc integration show" prints. A present connection stays as it is.';
  static override aliases = ['integrations:update'];
  static override examples = [
    {
      description: 'A client that is registered at the service',
      command: '<%= config.bin %> integration update crm --client-id svc --client-secret-file crm.secret',
    },
    {
      description: 'Ask for these scopes',
      command: '<%= config.bin %> integration update crm --scope files:read --scope files:write',
    },
  ];
  static override args = {
    name: Args.string({ description: 'Name of its MCP server, or id', required: true, name: 'NAME' }),
  };
  static override flags = {
    scope: repeatedFlag('Scope to ask for; those given replace the present ones. May be repeated.', 'SCOPE', [
      'default-scopes',
    ]),
    'default-scopes': Flags.boolean({ summary: 'Ask for the scopes that the MCP server names.' }),
    'client-id': Flags.string({
      summary: 'Client that is registered at the service. Without a secret it is a public client.',
      helpValue: 'ID',
      exclusive: ['platform-client'],
    }),
    'client-secret-file': Flags.string({
      summary: 'File that holds the secret of the client.',
      helpValue: 'FILE',
      dependsOn: ['client-id'],
    }),
    'platform-client': Flags.boolean({ summary: 'Let the platform register itself at the service.' }),
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IntegrationUpdate);
    const terminal = this.terminal(flags);
    const { scope, 'default-scopes': defaultScopes, 'platform-client': platformClient } = flags;
    const secretFile = flags['client-secret-file'];
    requireChange({
      ...{ scope, 'default-scopes': defaultScopes, 'client-id': flags['client-id'] },
      ...{ 'client-secret-file': secretFile, 'platform-client': platformClient },
    });
    const clientSecret = secretFile === undefined ? null : readSecret(secretFile);
    const { backend, workspace } = await tenancyOf(flags);
    const before = await getIntegration(backend, workspace.id, args.name);
    await backend.send(updateIntegrationMutation, {
      workspace: workspace.id,
      id: before.id,
      input: {
        scopes: defaultScopes ? [] : (scope ?? null),
        clientId: platformClient ? '' : (flags['client-id'] ?? null),
        clientSecret,
      },
    });
    const after = await getIntegration(backend, workspace.id, before.id);
    const differing = fieldsThatDiffer(fieldsOf(before), fieldsOf(after));
    // Nobody can see whether the secret of the same client differs.
    const changed = flags['client-id'] === undefined ? differing : [...new Set([...differing, 'client'])];
    const { id, name } = after;
    tellChanged(terminal, { kind: 'integration', id, name, changed });
    terminal.talk(`To connect it with them: svc integration connect ${shellWord(name)}`);
  }
}

function readSecret(file: string): string {
  const options = { sizeMaxBytes: secretMaxBytes, name: `--client-secret-file "${file}"`, takesPipes: true };
  const secret = readBounded(file, options).toString('utf8').trim();
  if (secret !== '') return secret;
  throw new SvcError('invalid_input', `--client-secret-file "${file}" is empty.`, {
    hint: 'For a public client, leave the flag out.',
  });
}

function fieldsOf({ wantedScopes, client, clientId }: Integration) {
  return { scopes: wantedScopes, client: client === 'own' ? clientId : null };
}
