import * as Args from '@oclif/core/args';
import { AlreadyReported, interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { awaitServer } from '../../launch/await-server.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchTools, getServer } from '../../objects/servers.ts';
import { describeTest } from '../../output/server.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';

export default class ServerTest extends SvcCommand {
  static override summary = 'Test whether an MCP server is Connected, and why not.';
  static override description =
    'The runtime pings each MCP server every 30 seconds. The command shows its latest report, and waits while the MCP server starts. It restarts nothing. For a new handshake: svc server restart NAME. Exit code 1: not Connected.';
  static override aliases = ['servers:test'];
  static override examples = [
    { description: 'Test one', command: '<%= config.bin %> server test files' },
    { description: 'For a script', command: '<%= config.bin %> server test files --json' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the MCP server.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerTest);
    const terminal = this.terminal(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { id, name, version } = await getServer(tenancy.backend, tenancy.workspace.id, args.name);
    const start = Date.now();
    const server = await awaitServer(tenancy, { id, name, version, done: 'as it is', signal, terminal });
    const waitedMs = Date.now() - start;
    const listed = (await fetchTools(tenancy.backend, tenancy.workspace.id, id)).filter((tool) => tool.listed);
    const ok = server.status === 'Connected';
    const { status, health, reason, stderr } = server;
    const lastStartedAt = isoOrNull(server.lastStartedAt);
    terminal.json({ ok, id, name, status, health, reason, tools: listed.length, stderr, lastStartedAt, waitedMs });
    terminal.result(describeTest({ server, tools: listed.length }, terminal));
    if (!ok) throw new AlreadyReported(1);
  }
}
