import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fetchIntegrations, integrationDocument } from '../../objects/integrations.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { describeIntegrations } from '../../output/integration.ts';

export default class IntegrationList extends SvcCommand {
  static override summary = 'List the services that MCP servers use with the consent of a person.';
  static override aliases = ['integrations:list'];
  static override examples = [
    { description: 'All of the workspace', command: '<%= config.bin %> integration list' },
    { description: 'For a script', command: '<%= config.bin %> integration list --json' },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(IntegrationList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const integrations = await fetchIntegrations(backend, workspace.id);
    terminal.json({ integrations: integrations.map(integrationDocument) });
    terminal.result(describeIntegrations(integrations, terminal));
  }
}
