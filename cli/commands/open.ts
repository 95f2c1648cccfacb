import * as Args from '@oclif/core/args';
import { SvcError } from '../../services/contracts/errors.ts';
import { status } from '../../stack/operations/status.ts';
import { environment, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { openAddress } from '../open-address.ts';
import { choice } from '../typed/how-it-runs.ts';

const pages = ['app', 'api'] as const;

export default class Open extends SvcCommand {
  static override summary = 'Open the page of the platform in the browser.';
  static override description = 'Without a display it prints the address.';
  static override examples = [
    { description: 'The page for people', command: '<%= config.bin %> open' },
    { description: 'The address of the GraphQL API', command: '<%= config.bin %> open api' },
  ];
  static override args = { what: Args.string({ description: 'app or api; default app', name: 'WHAT' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Open);
    const terminal = this.terminal(flags);
    const what = choice('WHAT', args.what, pages) ?? 'app';
    const { state, urls } = await status({ installation: installationOf(flags) });
    if (state === 'stopped') {
      throw new SvcError('unavailable', 'The platform is not running.', { hint: 'Start it: svc up' });
    }
    const url = urls[what];
    const reason = await openAddress(url, { isMac: process.platform === 'darwin', env: environment });
    terminal.json({ what, url, opened: reason === null, reason });
    terminal.result(url);
    if (reason !== null) terminal.talk(`It was not opened, because ${reason}. Open the address yourself.`);
  }
}
