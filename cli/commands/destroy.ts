import * as Flags from '@oclif/core/flags';
import { oneLine } from '../../services/contracts/one-line.ts';
import { type Destruction, destroy } from '../../stack/operations/destroy.ts';
import { environment, SvcCommand } from '../command.ts';
import { requireName } from '../consent.ts';
import { installationOf } from '../objects/platform.ts';
import { openProgressList } from '../output/progress-list.ts';
import type { Terminal } from '../output/terminal.ts';

export default class Destroy extends SvcCommand {
  static override summary = 'Stop the platform and remove the installation. Asks for its name.';
  static override examples = [
    { description: 'List what goes and what stays, then ask', command: '<%= config.bin %> destroy' },
    { description: 'In a script', command: '<%= config.bin %> destroy --dir trial --confirm trial' },
  ];
  static override flags = {
    confirm: Flags.string({ summary: 'Name of the installation, instead of typing it.', helpValue: 'NAME' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Destroy);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const list = openProgressList(terminal);
    const { id, name, goes, stays } = await destroy({
      installation,
      env: environment,
      agree: (plan) => agree(plan, installation.dir, { terminal, typed: flags.confirm }),
      onProgress: (progress) => {
        if (progress.kind === 'notice' || progress.kind === 'service') list.tell(progress);
      },
    }).finally(() => list.end());
    terminal.json({ id, name, removed: true, affected: goes, kept: stays });
    const left = stays.length === 0 ? '' : ` These stay in ${installation.dir}: ${oneLine(stays.join(', '))}.`;
    terminal.result(`The installation ${name} is removed.${left}`);
  }
}

interface Agreeing {
  readonly terminal: Terminal;
  readonly typed: string | undefined;
}

async function agree(plan: Destruction, dir: string, { terminal, typed }: Agreeing): Promise<void> {
  const { name, goes, stays } = plan;
  terminal.talk(`This is removed for good from ${dir}, with all data and keys of ${name}:`);
  for (const thing of goes) terminal.talk(`- ${oneLine(thing)}`);
  terminal.talk(stays.length === 0 ? 'Nothing else is in the folder.' : 'This stays, because a person put it there:');
  for (const thing of stays) terminal.talk(`- ${oneLine(thing)}`);
  await requireName(terminal, { name, typed, declined: 'Nothing was removed.' });
}
