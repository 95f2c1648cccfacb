import * as Args from '@oclif/core/args';
import { updateMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { awaitStop, type Known } from '../../launch/await-server.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getServer } from '../../objects/servers.ts';

export default class ServerDisable extends SvcCommand {
  static override summary = 'Disable an MCP server. It stops, and skills with its tools are not available.';
  static override description =
    'Calls under way finish first. The MCP server keeps its settings, and skills keep its tools.';
  static override aliases = ['servers:disable'];
  static override examples = [
    { description: 'Disable one', command: '<%= config.bin %> server disable files' },
    { description: 'In another workspace', command: '<%= config.bin %> server disable files --workspace Acme' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the MCP server.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerDisable);
    const terminal = this.terminal(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const before = await getServer(backend, workspace.id, args.name);
    const { id, name, enabled } = before;
    let known: Known = before;
    const changed = enabled ? ['enabled'] : [];
    if (enabled) {
      const input = { enabled: false, ifVersion: before.version };
      const answer = await backend.send(updateMcpServerMutation, { workspace: workspace.id, id, input });
      known = { ...before, version: answer.updateMcpServer.version, did: 'disabled' };
    }
    const isStopped = await awaitStop(tenancy, { ...known, signal });
    terminal.json({ id, name, changed, stopped: isStopped });
    terminal.result(enabled ? `Disabled ${name}.` : `Nothing to change: ${name} is disabled.`);
    if (!isStopped) terminal.talk('It still finishes its calls, and stops then.');
    if (enabled) terminal.talk(`To start it again: svc server enable ${name}`);
  }
}
