import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRuntimes } from '../../objects/runtimes.ts';
import { boundTo, fetchServers } from '../../objects/servers.ts';
import { spare, table } from '../../output/table.ts';
import { ago, isoOrNull } from '../../output/times-and-sizes.ts';

export default class RuntimeList extends SvcCommand {
  static override summary = 'List the runtimes of a workspace and of the platform, with the MCP servers of each.';
  static override aliases = ['runtimes:list'];
  static override examples = [
    { description: 'All runtimes', command: '<%= config.bin %> runtime list' },
    { description: 'For a script', command: '<%= config.bin %> runtime list --json' },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(RuntimeList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const servers = await fetchServers(backend, workspace.id);
    const runtimes = (await fetchRuntimes(backend, workspace.id)).map((runtime) => ({
      ...runtime,
      mcpServers: boundTo(runtime.id, servers).map(({ name }) => name),
    }));
    terminal.json({
      runtimes: runtimes.map((runtime) => ({ ...runtime, lastHeartbeatAt: isoOrNull(runtime.lastHeartbeatAt) })),
    });
    const rows = runtimes.map(({ id, name, platform, available, lastHeartbeatAt, versions, sandboxes, mcpServers }) => [
      name,
      platform ? "the platform's" : workspace.name,
      available ? terminal.paint('green', 'available') : terminal.paint('red', 'unavailable'),
      ago(lastHeartbeatAt),
      versions.join(', ') || '–',
      sandboxes.join(', ') || '–',
      mcpServers.join(', ') || '–',
      id,
    ]);
    const columns = [
      'NAME',
      'OF',
      'STATE',
      'LAST HEARTBEAT',
      spare('VERSION'),
      spare('SANDBOX'),
      'MCP SERVERS',
      spare('ID'),
    ];
    terminal.result(
      rows.length === 0
        ? 'There are no runtimes yet. Register one: svc runtime register NAME'
        : table(columns, rows, terminal.columns),
    );
  }
}
