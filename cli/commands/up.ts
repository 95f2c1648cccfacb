import * as Flags from '@oclif/core/flags';
import type { Status } from '../../stack/lifecycle/platform-status.ts';
import { up } from '../../stack/operations/up.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment, SvcCommand } from '../command.ts';
import { requireName } from '../consent.ts';
import { installationOf } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';
import { describeUp } from '../output/up.ts';
import { showStart } from '../start/bring-up.ts';
import { showFirstSignIn } from '../start/first-sign-in.ts';
import { nextCommand } from '../start/next-command.ts';
import { nextStep } from '../start/next-step.ts';

export default class Up extends SvcCommand {
  static override summary = 'Start the platform, or apply changes of svc.yaml to it.';
  static override examples = [
    { description: 'Start in the background and wait until all is healthy', command: '<%= config.bin %> up' },
    { description: 'Stay in the foreground; Ctrl-C stops the platform', command: '<%= config.bin %> up --foreground' },
    {
      description: 'Run a copied folder beside its original',
      command: '<%= config.bin %> up --as-copy --dir trial',
    },
  ];
  static override flags = {
    foreground: Flags.boolean({ summary: 'Run in the foreground; Ctrl-C stops the platform.' }),
    'as-copy': Flags.boolean({ summary: 'Give a copied folder an id, keys and ports of its own.' }),
    'start-empty': Flags.boolean({ summary: 'Start although data is missing. Asks for the name.' }),
    confirm: Flags.string({
      summary: 'Name of the installation, instead of typing it.',
      helpValue: 'NAME',
      dependsOn: ['start-empty'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Up);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const onReady = flags.foreground ? (status: Status) => tellReady(status, terminal) : null;
    const result = await showStart({ terminal, installation, onReady }, (told) =>
      up({
        ...told,
        installation,
        env: environment,
        foreground: flags.foreground,
        asCopy: flags['as-copy'],
        ...(flags['start-empty']
          ? { startEmpty: (gone) => agree(gone, installation, { terminal, typed: flags.confirm }) }
          : {}),
      }),
    );
    if (!flags.foreground) terminal.json(result.status);
    if (result.outcome === 'stopped') {
      terminal.talk('Stopped; all data is kept.');
      return;
    }
    const unchanged = result.outcome === 'unchanged' ? 'Nothing to change. ' : '';
    terminal.result(`${unchanged}${describeUp(result.status, terminal)}`);
    await showFirstSignIn(terminal, installation);
    const words = await nextStep(result.status, installation);
    terminal.talk(`Next: ${nextCommand(words, { installation, env: environment, cwd: process.cwd() })}`);
  }
}

interface Agreeing {
  readonly terminal: Terminal;
  readonly typed: string | undefined;
}

async function agree(gone: readonly string[], { definitionFile }: Installation, { terminal, typed }: Agreeing) {
  const { name } = readDefinition(definitionFile);
  terminal.talk(`This data is missing: ${gone.join(' and ')}.`);
  await requireName(terminal, { name, typed, declined: 'Nothing was started.' });
}

function tellReady(status: Status, terminal: Terminal): void {
  terminal.json(status);
  terminal.result(describeUp(status, terminal));
  terminal.talk('Ctrl-C stops it.');
}
