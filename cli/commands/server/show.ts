import * as Args from '@oclif/core/args';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchTools, getServer } from '../../objects/servers.ts';
import { describeServer, describeTools } from '../../output/server.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';

export default class ServerShow extends SvcCommand {
  static override summary = 'Show one MCP server: command, status, tools and last words.';
  static override aliases = ['servers:show'];
  static override examples = [
    { description: 'Show one', command: '<%= config.bin %> server show files' },
    { description: 'For a script', command: '<%= config.bin %> server show files --json' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerShow);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const server = await getServer(backend, workspace.id, args.name);
    const tools = await fetchTools(backend, workspace.id, server.id);
    terminal.json({
      ...server,
      lastStartedAt: isoOrNull(server.lastStartedAt),
      nextRetryAt: isoOrNull(server.nextRetryAt),
      tools,
    });
    terminal.result(`${describeServer(server, terminal)}\n\n${describeTools(tools, terminal)}`);
  }
}
