import { down } from '../../stack/operations/down.ts';
import { interruption, SvcCommand } from '../command.ts';
import { interruptedStop } from '../interrupted.ts';
import { openProgressList } from '../output/progress-list.ts';
import { installationOf } from '../platform.ts';

export default class Down extends SvcCommand {
  static override summary = 'Stop the platform gracefully. All data is kept.';
  static override examples = [
    { description: 'Stop the platform', command: '<%= config.bin %> down' },
    { description: 'Stop the one in another folder', command: '<%= config.bin %> down --dir /srv/tools' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Down);
    const terminal = this.terminal(flags);
    const list = openProgressList(terminal);
    const installation = installationOf(flags);
    const signal = interruption();
    const { outcome } = await down({
      installation,
      signal,
      onProgress: (progress) => {
        if (progress.kind === 'notice' || progress.kind === 'service') list.tell(progress);
      },
    })
      .finally(() => list.end())
      .catch((error: unknown) => {
        throw signal.aborted ? interruptedStop(installation, error) : error;
      });
    terminal.json({ state: 'stopped', outcome });
    terminal.result(
      outcome === 'stopped'
        ? 'The platform is stopped; all data is kept.'
        : 'Nothing to do: the platform was not running.',
    );
  }
}
