import * as Args from '@oclif/core/args';
import { updateMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { awaitServer, type Known, tellOutcome } from '../../launch/await-server.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getServer } from '../../objects/servers.ts';

export default class ServerEnable extends SvcCommand {
  static override summary = 'Enable an MCP server and wait until it is Connected.';
  static override aliases = ['servers:enable'];
  static override examples = [
    { description: 'Enable one', command: '<%= config.bin %> server enable files' },
    { description: 'In another workspace', command: '<%= config.bin %> server enable files --workspace Acme' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the MCP server.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerEnable);
    const terminal = this.terminal(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const before = await getServer(backend, workspace.id, args.name);
    const { id, name, enabled } = before;
    let known: Known = before;
    const changed = enabled ? [] : ['enabled'];
    if (!enabled) {
      const input = { enabled: true, ifVersion: before.version };
      const answer = await backend.send(updateMcpServerMutation, { workspace: workspace.id, id, input });
      known = { ...before, version: answer.updateMcpServer.version, did: 'enabled' };
    }
    terminal.talk(
      enabled ? `Nothing to change: ${name} is enabled.` : `Enabled ${name}; waiting until it is Connected.`,
    );
    const server = await awaitServer(tenancy, { ...known, done: 'enabled', signal, terminal });
    await tellOutcome(tenancy, { server, done: 'enabled', terminal }, { changed });
  }
}
