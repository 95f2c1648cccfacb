import * as Args from '@oclif/core/args';
import { status } from '../../../stack/operations/status.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { getIntegration } from '../../objects/integrations.ts';
import { installationOf, tenancyOf } from '../../objects/platform.ts';

export default class IntegrationConnect extends SvcCommand {
  static override summary =
    'Print the address at which a person connects, or reconnects, an MCP server to its service.';
  static override description =
    'A person gives the consent, in a browser: an owner or an admin of the workspace. The address may be opened on another machine.';
  static override aliases = ['integrations:connect'];
  static override examples = [
    { description: 'For the MCP server crm', command: '<%= config.bin %> integration connect crm' },
    {
      description: 'In another workspace',
      command: '<%= config.bin %> integration connect crm --workspace Acme',
    },
  ];
  static override args = {
    name: Args.string({ description: 'Name of its MCP server, or id', required: true, name: 'NAME' }),
  };
  static override flags = {
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IntegrationConnect);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const { id, name, state, redirectUri } = await getIntegration(backend, workspace.id, args.name);
    const { urls } = await status({ installation: installationOf(flags) });
    const url = new URL(`/w/${workspace.id}/settings/integrations?panel=${id}`, urls.app).href;
    terminal.json({ id, name, state, url, redirectUri });
    terminal.result(url);
    terminal.talk(
      `Open it in a browser as an owner or an admin of ${workspace.name}, and choose ${state === 'needs_authorization' ? 'Connect' : 'Reconnect'}. To sign in the owner: svc open`,
    );
  }
}
