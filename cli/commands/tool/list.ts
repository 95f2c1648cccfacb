import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { connectAgent } from '../../agent.ts';
import { environment, interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { readKey } from '../../keys-test/key-source.ts';
import { remoteMcpOf, tenancyOf } from '../../objects/platform.ts';
import { getServer } from '../../objects/servers.ts';
import { fetchTools, type ListedTool } from '../../objects/tools.ts';
import { brief } from '../../output/server.ts';
import { spare, table } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class ToolList extends SvcCommand {
  static override summary = 'List the tools of all MCP servers, or those that an agent with a key sees.';
  static override aliases = ['tools:list'];
  static override examples = [
    { description: 'All tools', command: '<%= config.bin %> tool list' },
    { description: 'Those of one MCP server, for a script', command: '<%= config.bin %> tool list files --json' },
    { description: 'What an agent lists first', command: '<%= config.bin %> tool list --key-file key.txt' },
  ];
  static override args = { server: Args.string({ description: 'MCP server, by name or id', name: 'SERVER' }) };
  static override flags = {
    'key-file': Flags.string({ summary: 'List what an agent with this key sees.', helpValue: 'FILE' }),
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolList);
    const terminal = this.terminal(flags);
    const keyFile = flags['key-file'];
    if (keyFile !== undefined) {
      const key = await readKey({ keyFile, env: environment, terminal });
      const signal = interruption();
      const agent = await connectAgent({
        ...{ url: await remoteMcpOf(flags), token: key.reveal(), version: this.config.version, signal },
      });
      const tools = await agent.tools().finally(() => agent.close());
      terminal.json({ tools: tools.map(({ name, description = null }) => ({ name, description })) });
      terminal.result(
        describe(
          tools.map(({ name, description = '' }) => [name, description] as const),
          terminal,
        ),
      );
      return;
    }
    const tenancy = await tenancyOf(flags);
    const only = args.server === undefined ? null : await getServer(tenancy.backend, tenancy.workspace.id, args.server);
    const tools = (await fetchTools(tenancy)).filter(({ mcpServer }) => only === null || mcpServer === only.name);
    terminal.json({ tools });
    terminal.result(
      tools.length === 0
        ? 'No MCP server offers a tool. List the MCP servers: svc server list'
        : table(
            ['TOOL', 'NAME', 'STATE', spare('')],
            tools.map((tool) => row(tool, terminal)),
            terminal.columns,
          ),
    );
  }
}

function row({ path, name, description, available }: ListedTool, { paint }: Terminal): readonly string[] {
  const state = available ? paint('green', 'available') : paint('red', 'unavailable');
  return [path, name, state, paint('grey', brief(description))];
}

function describe(tools: readonly (readonly [name: string, description: string])[], terminal: Terminal): string {
  const rows = tools.map(([name, description]) => [name, terminal.paint('grey', brief(description))]);
  return table([`TOOLS (${tools.length})`, ''], rows, terminal.columns);
}
