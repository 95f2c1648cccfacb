import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchServers } from '../../objects/servers.ts';
import { fetchTools } from '../../objects/tools.ts';
import { describeServers } from '../../output/server.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';

export default class ServerList extends SvcCommand {
  static override summary = 'List MCP servers with status, health and tools, and why one is not Connected.';
  static override aliases = ['servers:list'];
  static override examples = [
    { description: 'All MCP servers', command: '<%= config.bin %> server list' },
    { description: 'For a script', command: '<%= config.bin %> server list --json' },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ServerList);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const servers = await fetchServers(tenancy.backend, tenancy.workspace.id);
    const tools = Map.groupBy(await fetchTools(tenancy), ({ mcpServer }) => mcpServer);
    const listed = servers.map((server) => ({ server, tools: tools.get(server.name)?.length ?? 0 }));
    terminal.json({
      mcpServers: listed.map(({ server, tools }) => ({
        id: server.id,
        name: server.name,
        status: server.status,
        health: server.health,
        reason: server.reason,
        tools,
        runtime: server.runtimes[0]?.name ?? null,
        lastStartedAt: isoOrNull(server.lastStartedAt),
        restarts: server.restarts,
        nextRetryAt: isoOrNull(server.nextRetryAt),
      })),
    });
    terminal.result(
      listed.length === 0
        ? 'There are no MCP servers yet. Add one: svc server add NAME -- COMMAND ARGS…'
        : describeServers(listed, terminal),
    );
  }
}
