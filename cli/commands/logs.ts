import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { logLevels } from '../../services/contracts/env/variable.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { logs } from '../../stack/operations/logs.ts';
import { interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { describeLogLine } from '../output/log-line.ts';
import { isoOrNull } from '../output/times-and-sizes.ts';
import { parseCount } from '../typed/count.ts';
import { parseMoment } from '../typed/moment.ts';

export default class Logs extends SvcCommand {
  static override summary =
    'Show the logs of the services, merged by time, with what MCP servers write to standard error.';
  static override examples = [
    { description: 'Follow everything', command: '<%= config.bin %> logs -f' },
    {
      description: 'Warnings of the runtime in the last ten minutes',
      command: '<%= config.bin %> logs runtime --since 10m --level warn',
    },
    { description: 'What an MCP server writes to standard error', command: '<%= config.bin %> logs --server files -f' },
  ];
  static override strict = false;
  static override args = { service: Args.string({ description: 'Services to show; default all' }) };
  static override flags = {
    follow: Flags.boolean({ char: 'f', summary: 'Follow new lines.' }),
    lines: Flags.string({ char: 'n', summary: 'Number of last lines to show.', default: '100', helpValue: 'NUMBER' }),
    since: Flags.string({ summary: 'Show only newer lines: 10m, 2h, 1d or a date.', helpValue: 'TIME' }),
    level: Flags.string({
      summary: `Lowest level to show: ${logLevels.join(', ')}.`,
      default: 'trace',
      helpValue: 'LEVEL',
    }),
    request: Flags.string({ summary: 'Show only lines of this request.', helpValue: 'ID' }),
    server: Flags.string({ summary: 'Show only what this MCP server wrote to standard error.', helpValue: 'NAME' }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Logs);
    const terminal = this.terminal(flags);
    const level = logLevels.find((known) => known === flags.level);
    if (level === undefined)
      throw new SvcError('invalid_input', `--level must be one of ${logLevels.join(', ')}, not "${flags.level}".`);
    const count = parseCount('--lines', flags.lines);
    const shown: object[] = [];
    let told = 0;
    const lines = logs({
      installation: installationOf(flags),
      services: argv.map(String),
      since: flags.since === undefined ? null : parseMoment('--since', flags.since, 'past'),
      level,
      request: flags.request ?? null,
      mcpServer: flags.server ?? null,
      lines: count,
      follow: flags.follow,
      signal: interruption(),
    });
    for await (const line of lines) {
      told++;
      const { text: _, ...rest } = line;
      const entry = { ...rest, time: isoOrNull(line.time === 0 ? null : line.time) };
      if (flags.json && !flags.follow) shown.push(entry);
      else terminal.json(entry);
      terminal.result(describeLogLine(line, terminal));
    }
    if (flags.json && !flags.follow) terminal.json({ lines: shown });
    if (told === 0 && count > 0 && !flags.follow) terminal.talk('No lines match.');
  }
}
