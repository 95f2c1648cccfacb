import { readPlan } from '../../../stack/engines/plan-of.ts';
import { effectiveVariables } from '../../../stack/parts/environment.ts';
import { SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';
import { table } from '../../output/table.ts';

export default class ConfigShow extends SvcCommand {
  static override summary = 'Show the variables of each service and where each value comes from.';
  static override examples = [
    { description: 'What the services get', command: '<%= config.bin %> config show' },
    { description: 'For a script', command: '<%= config.bin %> config show --json' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigShow);
    const terminal = this.terminal(flags);
    const { parts } = readPlan(installationOf(flags));
    const variables = effectiveVariables(parts);
    terminal.json({ variables });
    const rows = variables.map(({ service, name, value, decidedBy }) => [service, name, value, decidedBy]);
    terminal.result(table(['SERVICE', 'VARIABLE', 'VALUE', 'DECIDED BY'], rows, terminal.columns));
  }
}
