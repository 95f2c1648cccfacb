import * as Args from '@oclif/core/args';
import { up } from '../../stack/operations/up.ts';
import { environment, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { describeUp } from '../output/up.ts';
import { showStart } from '../start/bring-up.ts';

export default class Restart extends SvcCommand {
  static override summary = 'Restart services gracefully, one after the other. All data and sessions are kept.';
  static override examples = [
    { description: 'Restart all services', command: '<%= config.bin %> restart' },
    { description: 'Restart two of them', command: '<%= config.bin %> restart remote-mcp runtime' },
  ];
  static override strict = false;
  static override args = { service: Args.string({ description: 'Services to restart; default all' }) };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Restart);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const services = argv.map(String);
    const restart = services.length === 0 ? 'all' : services;
    const { status } = await showStart({ terminal, installation, onReady: null }, (told) =>
      up({ ...told, installation, env: environment, restart }),
    );
    terminal.json(status);
    terminal.result(describeUp(status, terminal));
  }
}
