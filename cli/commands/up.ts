import * as Flags from '@oclif/core/flags';
import { isUp } from '../../stack/engines/engine-of.ts';
import type { Status } from '../../stack/lifecycle/platform-status.ts';
import type { Progress } from '../../stack/lifecycle/progress.ts';
import { up } from '../../stack/operations/up.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { requireName } from '../consent.ts';
import { nextCommand } from '../next-command.ts';
import { openProgressList, type ProgressList } from '../output/progress-list.ts';
import { describeAddresses } from '../output/status.ts';
import type { Terminal } from '../output/terminal.ts';
import { installationOf } from '../platform.ts';

export default class Up extends SvcCommand {
  static override summary = 'Start the platform, or apply changes of svc.yaml to it.';
  static override examples = [
    { description: 'Start in the background and wait until all is healthy', command: '<%= config.bin %> up' },
    { description: 'Stay in the foreground; Ctrl-C stops the platform', command: '<%= config.bin %> up --foreground' },
    {
      description: 'Run a copied folder beside its original',
      command: '<%= config.bin %> up --as-copy --dir /srv/trial',
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
    // In the foreground the list would end only with the platform.
    const canvas = flags.foreground ? null : terminal.canvas;
    const list = openProgressList({ ...terminal, canvas });
    const signal = interruption();
    const stopping = { kind: 'notice', message: 'Stopping. A second Ctrl-C does not wait.' } as const;
    if (canvas !== null) signal.addEventListener('abort', () => list.tell(stopping));
    const result = await up({
      installation,
      env: environment,
      foreground: flags.foreground,
      asCopy: flags['as-copy'],
      ...(flags['start-empty']
        ? { startEmpty: (gone) => agree(gone, installation, { terminal, typed: flags.confirm }) }
        : {}),
      onProgress: (progress) => tell(progress, list, { terminal, foreground: flags.foreground }),
      signal,
    })
      .finally(() => list.end())
      .catch((error: unknown) => {
        if (signal.aborted && !terminal.asJson) terminal.complain(`Interrupted. ${whatRuns(installation)}`);
        throw error;
      });
    if (!flags.foreground) terminal.json(result.status);
    if (result.outcome === 'stopped') {
      terminal.talk('Stopped; all data is kept.');
      return;
    }
    terminal.result(
      result.outcome === 'unchanged'
        ? `Nothing to change. ${describeState(result.status, terminal)}\n${describeAddresses(result.status)}`
        : `${describeState(result.status, terminal)}\n${describeAddresses(result.status)}`,
    );
    const words = result.status.mcpServers.length === 0 ? firstSteps : 'status';
    terminal.talk(`Next: ${nextCommand(words, { installation, env: environment, cwd: process.cwd() })}`);
  }
}

/** The parts that keep running after an interrupted start. */
function whatRuns(installation: Installation): string {
  if (!isUp(installation)) return 'Nothing is left running.';
  return 'The platform is still running. See it: svc status. Stop it: svc down';
}

function describeState({ state }: Status, terminal: Terminal): string {
  if (state === 'degraded') return terminal.paint('yellow', 'The platform is degraded. Run svc status to see why.');
  return terminal.paint('green', 'The platform is running.');
}

/** A platform without MCP servers offers no tools yet. */
const firstSteps = 'server add everything -- npx -y @modelcontextprotocol/server-everything';

interface Agreeing {
  readonly terminal: Terminal;
  readonly typed: string | undefined;
}

async function agree(gone: readonly string[], { definitionFile }: Installation, { terminal, typed }: Agreeing) {
  const { name } = readDefinition(definitionFile);
  terminal.talk(`This data is missing: ${gone.join(' and ')}.`);
  await requireName(terminal, { name, typed, declined: 'Nothing was started.' });
}

interface Telling {
  readonly terminal: Terminal;
  readonly foreground: boolean;
}

function tell(progress: Progress, list: ProgressList, { terminal, foreground }: Telling): void {
  switch (progress.kind) {
    case 'plan':
      for (const text of progress.changes) list.tell({ kind: 'change', text });
      break;
    case 'notice':
    case 'service':
      list.tell(progress);
      break;
    case 'ready':
      if (foreground) {
        terminal.json(progress.status);
        terminal.result(
          `${describeState(progress.status, terminal)} Ctrl-C stops it.\n${describeAddresses(progress.status)}`,
        );
      }
      break;
  }
}
