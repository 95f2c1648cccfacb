import * as Flags from '@oclif/core/flags';
import { SvcCommand } from '../../command.ts';
import { table } from '../../output/table.ts';
import { isoOrNull } from '../../output/words.ts';
import { defaultWorkspace, tenancyOf } from '../../platform.ts';
import { fetchServers, fetchTools } from '../../servers.ts';

const statusColours = { Connected: 'green', Disconnected: 'grey', Error: 'red' } as const;
const healthWords = { green: 'healthy', yellow: 'degraded', red: 'down' } as const;

export default class ServerList extends SvcCommand {
  static override summary = 'List MCP servers with status, health, tools and the reason where one is not Connected.';
  static override aliases = ['servers:list'];
  static override examples = [
    { description: 'All MCP servers', command: '<%= config.bin %> server list' },
    { description: 'For a script', command: '<%= config.bin %> server list --json' },
  ];
  static override flags = {
    workspace: Flags.string({ summary: 'Workspace to look at.', default: defaultWorkspace, helpValue: 'NAME' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ServerList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const servers = await fetchServers(backend, workspace.id);
    const listed = await Promise.all(
      servers.map(async (server) => ({
        server,
        tools: (await fetchTools(backend, workspace.id, server.id)).filter((tool) => tool.listed).length,
      })),
    );
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
    const rows = listed.map(({ server, tools }) => [
      server.name,
      terminal.paint(statusColours[server.status], server.status),
      terminal.paint(server.health, healthWords[server.health]),
      String(tools),
      server.runtimes[0]?.name ?? '',
      server.reason === null ? '' : `${server.reason.message} ${server.reason.repair}`,
    ]);
    terminal.result(
      rows.length === 0
        ? 'There are no MCP servers yet. Add one: svc server add NAME -- COMMAND ARGS…'
        : table(['NAME', 'STATUS', 'HEALTH', 'TOOLS', 'RUNTIME', 'REASON'], rows),
    );
  }
}
