import * as Args from '@oclif/core/args';
import { restartMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { awaitServer, tellOutcome } from '../../launch/await-server.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getServer, refuseStopped } from '../../objects/servers.ts';

export default class ServerRestart extends SvcCommand {
  static override summary = 'Restart an MCP server and wait until it is Connected. Its calls finish first.';
  static override aliases = ['servers:restart'];
  static override examples = [
    { description: 'Restart one', command: '<%= config.bin %> server restart files' },
    { description: 'In another workspace', command: '<%= config.bin %> server restart files --workspace Acme' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the MCP server.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerRestart);
    const terminal = this.terminal(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const before = await getServer(backend, workspace.id, args.name);
    refuseStopped(before);
    const { id, name, version, lastStartedAt } = before;
    await backend.send(restartMcpServerMutation, { workspace: workspace.id, id });
    terminal.talk(`Restarting ${name}; waiting until it is Connected.`);
    const awaited = {
      id,
      name,
      version,
      did: 'restarted',
      done: 'restarted',
      startedBefore: lastStartedAt,
      signal,
      terminal,
    };
    const server = await awaitServer(tenancy, awaited);
    await tellOutcome(tenancy, { server, done: 'restarted', terminal });
  }
}
