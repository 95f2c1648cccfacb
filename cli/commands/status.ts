import { setTimeout as pause } from 'node:timers/promises';
import * as Flags from '@oclif/core/flags';
import type { Status as PlatformStatus } from '../../stack/lifecycle/platform-status.ts';
import { listInstallations } from '../../stack/operations/list-installations.ts';
import { describeInterruptedReplacement } from '../../stack/operations/replace/replacement.ts';
import { status } from '../../stack/operations/status.ts';
import { type CallRate, CallRates, readCallSum } from '../call-rate.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { describeForgotten, describeInstallations } from '../output/installations.ts';
import { describeStatus, otherVersion } from '../output/status.ts';

const watchIntervalMs = 1000;

export default class Status extends SvcCommand {
  static override summary = 'Show what runs, where, since when, and its health.';
  static override examples = [
    { description: 'Show it once', command: '<%= config.bin %> status' },
    { description: 'Refresh every second', command: '<%= config.bin %> status --watch' },
    { description: 'List all installations of this user', command: '<%= config.bin %> status --all' },
  ];
  static override flags = {
    watch: Flags.boolean({ char: 'w', summary: 'Refresh every second until Ctrl-C.' }),
    all: Flags.boolean({
      summary: 'List all installations of this user on this machine, running or not.',
      exclusive: ['watch'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Status);
    const terminal = this.terminal(flags);
    if (flags.all) {
      const { installations, forgotten } = await listInstallations({ env: environment, signal: interruption() });
      for (const one of forgotten) terminal.talk(describeForgotten(one));
      terminal.json({ installations });
      terminal.result(describeInstallations(installations, terminal));
      return;
    }
    const installation = installationOf(flags);
    const signal = interruption();
    let seen = await status({ installation, signal });
    const notice = otherVersion(seen, this.config.version);
    if (notice !== null) terminal.warn(notice);
    const interrupted = describeInterruptedReplacement(installation);
    if (interrupted !== null) terminal.warn(interrupted);
    if (!flags.watch) {
      terminal.json(seen);
      terminal.result(describeStatus(seen, terminal));
      process.exitCode = exitCodes[seen.state];
      return;
    }
    const rates = new CallRates();
    while (!signal.aborted) {
      const sum = await readCallSum(installation, signal);
      const calls = sum === null ? null : rates.add(sum);
      terminal.json({ ...seen, calls });
      terminal.redraw(`${describeRate(calls)}\n\n${describeStatus(seen, terminal)}`);
      await pause(watchIntervalMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) seen = await status({ installation, signal });
    }
  }
}

function describeRate(rate: CallRate | null): string {
  const time = new Date().toISOString().slice(11, 19);
  if (rate === null) return `${time} UTC. Ctrl-C ends this view.`;
  const { callsPerSecond, errorsPerSecond } = rate;
  return `${time} UTC: ${callsPerSecond.toFixed(1)} calls a second, ${errorsPerSecond.toFixed(1)} of them with an error. Ctrl-C ends this view.`;
}

/** The exit code tells a script the state. */
const exitCodes: Readonly<Record<PlatformStatus['state'], number>> = { running: 0, degraded: 1, stopped: 4 };
