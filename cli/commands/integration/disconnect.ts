import * as Args from '@oclif/core/args';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { disconnectIntegrationMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { requireConsent } from '../../consent.ts';
import { getIntegration } from '../../objects/integrations.ts';
import { tenancyOf } from '../../objects/platform.ts';

export default class IntegrationDisconnect extends SvcCommand {
  static override summary = 'Forget the token of an MCP server, and revoke it where the provider allows it.';
  static override aliases = ['integrations:disconnect'];
  static override examples = [
    { description: 'Disconnect one after confirming', command: '<%= config.bin %> integration disconnect crm' },
    {
      description: 'In another workspace, from a script',
      command: '<%= config.bin %> integration disconnect crm --workspace Acme --yes',
    },
  ];
  static override args = {
    name: Args.string({ description: 'Name of its MCP server, or id', required: true, name: 'NAME' }),
  };
  static override flags = {
    yes: yesFlag,
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IntegrationDisconnect);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const { id, name, state } = await getIntegration(backend, workspace.id, args.name);
    if (state === 'needs_authorization') {
      terminal.json({ id, name, state });
      terminal.result(`Nothing to change: ${name} is not connected.`);
      return;
    }
    if (!flags.yes) {
      const loss = `The MCP server ${name} fails until a person connects it again.`;
      if (terminal.interactive) terminal.talk(loss);
      await requireConsent(terminal, {
        question: `Disconnect ${name}?`,
        unasked: `Disconnecting "${name}" must be confirmed. ${loss}`,
        declined: 'Nothing was disconnected.',
      });
    }
    const answer = await backend.send(disconnectIntegrationMutation, { workspace: workspace.id, id });
    terminal.json({ id, name, state: answer.disconnectIntegration.state });
    terminal.result(`Disconnected ${name}.`);
    terminal.talk(`To connect it again: svc integration connect ${shellWord(name)}`);
  }
}
