import * as Args from '@oclif/core/args';
import { removeMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../platform.ts';
import { getServer } from '../../servers.ts';

export default class ServerRemove extends SvcCommand {
  static override summary = 'Remove an MCP server. It stops, and skills lose its tools.';
  static override aliases = ['servers:remove'];
  static override examples = [
    { description: 'Remove one', command: '<%= config.bin %> server remove files' },
    { description: 'In another workspace', command: '<%= config.bin %> server remove files --workspace Acme' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerRemove);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const server = await getServer(backend, workspace.id, args.name);
    await backend.send(removeMcpServerMutation, { workspace: workspace.id, id: server.id });
    terminal.json({ id: server.id, name: server.name, removed: true });
    terminal.result(`Removed ${server.name}.`);
  }
}
