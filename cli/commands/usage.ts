import * as Flags from '@oclif/core/flags';
import { SvcCommand, workspaceFlag } from '../command.ts';
import { sumUsage, usageGroups } from '../history.ts';
import { tenancyOf } from '../objects/platform.ts';
import { table } from '../output/table.ts';
import { milliseconds } from '../output/times-and-sizes.ts';
import { choice } from '../typed/how-it-runs.ts';
import { parseMoment } from '../typed/moment.ts';

export default class Usage extends SvcCommand {
  static override summary = 'Show calls by tool, key, skill or MCP server.';
  static override examples = [
    { description: 'Calls of each tool in the last week', command: '<%= config.bin %> usage' },
    {
      description: 'Calls with each key today, for a script',
      command: '<%= config.bin %> usage --by key --since 24h --json',
    },
  ];
  static override flags = {
    by: Flags.string({
      summary: 'What to add up by. Default: tool.',
      default: 'tool',
      helpValue: usageGroups.join('|'),
    }),
    since: Flags.string({ summary: 'Count only newer calls: 2h, 30d or a date.', default: '7d', helpValue: 'TIME' }),
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Usage);
    const terminal = this.terminal(flags);
    const by = choice('--by', flags.by, usageGroups) ?? 'tool';
    const sums = await sumUsage(await tenancyOf(flags), by, parseMoment('--since', flags.since, 'past'));
    terminal.json({ by, usage: sums });
    if (sums.length === 0) {
      terminal.talk('No tool was called. Connect an agent, or test a key: svc keys test');
      return;
    }
    const rows = sums.map(({ name, calls, errors, durationMs }) => {
      return [name, String(calls), String(errors), milliseconds(durationMs / calls)];
    });
    terminal.result(
      table([by === 'server' ? 'MCP SERVER' : by.toUpperCase(), 'CALLS', 'ERRORS', 'AVERAGE'], rows, terminal.columns),
    );
  }
}
