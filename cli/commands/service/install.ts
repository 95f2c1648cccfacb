import { realpathSync } from 'node:fs';
import * as Flags from '@oclif/core/flags';
import { bootServiceOf, installBootService, lingers } from '../../../stack/boot/boot-service.ts';
import { isUp } from '../../../stack/engines/engine-of.ts';
import { refuseCopy } from '../../../stack/state/find-original.ts';
import { environment, SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';
import { facts } from '../../output/table.ts';

export default class ServiceInstall extends SvcCommand {
  static override summary = 'Start the platform at boot, as a service of systemd or launchd.';
  static override aliases = ['services:install'];
  static override examples = [
    { description: 'As a service of this user', command: '<%= config.bin %> service install' },
    {
      description: 'As a service of the machine, from a folder of root',
      command: '<%= config.bin %> service install --system',
    },
    { description: 'Show the unit and change nothing', command: '<%= config.bin %> service install --print' },
  ];
  static override flags = {
    system: Flags.boolean({
      default: false,
      summary:
        'For the whole machine. It runs as the owner of the folder. Other users than root get the commands for root.',
    }),
    print: Flags.boolean({ summary: 'Print the unit instead of installing it.' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ServiceInstall);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    refuseCopy(installation);
    const script = realpathSync(process.argv[1] ?? '');
    const service = bootServiceOf({ installation, env: environment, isSystem: flags.system, script });
    const { unit, file, text } = service;
    if (flags.print) {
      terminal.json({ unit, file, text });
      terminal.result(text);
      return;
    }
    await installBootService({ installation, env: environment }, service);
    const linger = flags.system ? null : await lingers(environment);
    const path = environment.PATH ?? '';
    terminal.json({ unit, file, system: flags.system, path, linger });
    const rows = [
      ['unit', file],
      ['starts', `${process.execPath} ${script}`],
      ['PATH', path],
    ] as const;
    terminal.result(`The platform starts at boot, by ${unit}.\n${facts(rows, terminal)}`);
    if (process.platform === 'darwin') {
      terminal.warn('The service of launchd was made by its documentation and has not been tried.');
      return;
    }
    if (linger === false) {
      terminal.warn('Services of this user start at the first login. To start them at boot: loginctl enable-linger');
    }
    const start = `systemctl ${flags.system ? '' : '--user '}start ${unit}`;
    const stop = isUp(installation) ? 'svc down && ' : '';
    terminal.talk(`It starts with the next boot. To let the service run it now: ${stop}${start}`);
  }
}
