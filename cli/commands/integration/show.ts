import * as Args from '@oclif/core/args';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { getIntegration, integrationDocument } from '../../objects/integrations.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { describeIntegration } from '../../output/integration.ts';

export default class IntegrationShow extends SvcCommand {
  static override summary = 'Show one integration: state, provider, client, scopes and the redirect URI to register.';
  static override aliases = ['integrations:show'];
  static override examples = [
    { description: 'That of the MCP server crm', command: '<%= config.bin %> integration show crm' },
    { description: 'In another workspace', command: '<%= config.bin %> integration show crm --workspace Acme' },
  ];
  static override args = {
    name: Args.string({ description: 'Name of its MCP server, or id', required: true, name: 'NAME' }),
  };
  static override flags = {
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IntegrationShow);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const integration = await getIntegration(backend, workspace.id, args.name);
    terminal.json(integrationDocument(integration));
    terminal.result(describeIntegration(integration, terminal));
  }
}
