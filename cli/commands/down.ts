import * as Flags from '@oclif/core/flags';
import { down } from '../../stack/operations/down.ts';
import { downRemoved } from '../../stack/operations/down-removed.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { openProgressList } from '../output/progress-list.ts';
import type { Terminal } from '../output/terminal.ts';
import { interruptedStop } from '../start/interrupted.ts';

export default class Down extends SvcCommand {
  static override summary = 'Stop the platform gracefully. All data is kept.';
  static override examples = [
    { description: 'Stop the platform', command: '<%= config.bin %> down' },
    { description: 'Stop the one in another folder', command: '<%= config.bin %> down --dir tools' },
    {
      description: 'End what still runs of a folder that was removed',
      command: '<%= config.bin %> down --id 4kq07kx0v2fy0d5s',
    },
  ];
  static override flags = {
    id: Flags.string({
      summary: 'End an installation whose folder is gone. svc status --all shows its id.',
      helpValue: 'ID',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Down);
    const terminal = this.terminal(flags);
    if (flags.id !== undefined) {
      await endRemoved(flags.id, terminal);
      return;
    }
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

async function endRemoved(id: string, terminal: Terminal): Promise<void> {
  const { outcome, ended } = await downRemoved(id, environment);
  terminal.json({ state: 'stopped', outcome, ended });
  const names = ended.map(({ name, pid, container }) => `${name} (${container ?? `pid ${pid}`})`);
  terminal.result(
    outcome === 'stopped' ? `Ended: ${names.join(', ')}.` : `Nothing to do: nothing of the installation ${id} runs.`,
  );
}
