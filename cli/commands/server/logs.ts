import { setTimeout as pause } from 'node:timers/promises';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { getPresent } from '../../launch/await-server.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getServer } from '../../objects/servers.ts';

const pollMs = 1000;

export default class ServerLogs extends SvcCommand {
  static override summary = 'Show the last lines that an MCP server wrote to standard error.';
  static override description =
    'Its runtime reports them, without secret values, whenever the state of the MCP server changes. The log of the runtime has more: svc logs runtime.';
  static override aliases = ['servers:logs'];
  static override examples = [
    { description: 'Show them', command: '<%= config.bin %> server logs files' },
    { description: 'Follow new lines', command: '<%= config.bin %> server logs files -f' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    follow: Flags.boolean({ char: 'f', summary: 'Follow new lines.' }),
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerLogs);
    const terminal = this.terminal(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const server = await getServer(tenancy.backend, tenancy.workspace.id, args.name);
    const { id, name, stderr } = server;
    if (!flags.follow) {
      terminal.json({ id, name, lines: stderr });
      for (const line of stderr) terminal.result(oneLine(line));
      if (stderr.length === 0) terminal.talk(`The runtime has reported no lines of ${name}.`);
      return;
    }
    let shown: readonly string[] = [];
    for (let lines = stderr; ; lines = (await getPresent(tenancy, server)).stderr) {
      for (const line of newLines(shown, lines)) {
        terminal.json({ line });
        terminal.result(oneLine(line));
      }
      shown = lines;
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }
}

/** The lines after the part that both lists share: each holds the last lines of one text. */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  for (let from = 0; from < before.length; from++) {
    const shared = before.slice(from);
    if (shared.every((line, at) => line === now[at])) return now.slice(shared.length);
  }
  return now;
}
