import * as Flags from '@oclif/core/flags';
import { SvcCommand, workspaceFlag } from '../command.ts';
import { fetchHistory } from '../history.ts';
import { tenancyOf } from '../objects/platform.ts';
import { describeHistory } from '../output/history.ts';
import { isoOrNull } from '../output/times-and-sizes.ts';
import { parseCount } from '../typed/count.ts';
import { parseMoment } from '../typed/moment.ts';

export default class Audit extends SvcCommand {
  static override summary = 'Show who changed what, and which keys called which tools.';
  static override description = 'The latest entries come first. Calls are counted by the hour.';
  static override examples = [
    { description: 'The last day', command: '<%= config.bin %> audit' },
    { description: 'The last month, for a script', command: '<%= config.bin %> audit --since 30d --lines 5000 --json' },
  ];
  static override flags = {
    since: Flags.string({
      summary: 'Show only newer entries: 10m, 2h, 30d or a date.',
      default: '1d',
      helpValue: 'TIME',
    }),
    lines: Flags.string({ char: 'n', summary: 'Number of entries to show.', default: '100', helpValue: 'NUMBER' }),
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Audit);
    const terminal = this.terminal(flags);
    const from = parseMoment('--since', flags.since, 'past');
    const entriesMax = parseCount('--lines', flags.lines);
    const entries = await fetchHistory(await tenancyOf(flags), { from, entriesMax });
    terminal.json({ entries: entries.map((entry) => ({ ...entry, at: isoOrNull(entry.at) })) });
    if (entries.length === 0) terminal.talk(`Nothing happened since ${isoOrNull(from)}.`);
    else terminal.result(describeHistory(entries, terminal));
  }
}
