import type { EventEmitter } from 'node:events';
import { Command } from '@oclif/core/command';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../services/contracts/errors.ts';
import { openTerminal, type Terminal } from './output/terminal.ts';
import { commandName, withName } from './typed/name.ts';

/** Flags that every command has. */
export const sharedFlags = {
  dir: Flags.string({ summary: 'Folder of the installation.', helpGroup: 'GLOBAL', env: 'SVC_DIR', helpValue: 'DIR' }),
  json: Flags.boolean({ summary: 'Print one JSON document on stdout, also on failure.', helpGroup: 'GLOBAL' }),
  quiet: Flags.boolean({ summary: 'Print the result and errors only.', helpGroup: 'GLOBAL' }),
  'no-input': Flags.boolean({ summary: 'Never ask; a missing answer is an error.', helpGroup: 'GLOBAL' }),
};

/** The shared flags without a value, as they are typed. */
export const sharedSwitches: readonly string[] = Object.entries(sharedFlags).flatMap(([name, flag]) =>
  flag.type === 'boolean' ? [`--${name}`] : [],
);

/** Flag of every command that works in one workspace. Without it, `tenancyOf` takes the workspace in use. */
export function workspaceFlag(summary: string) {
  return Flags.string({ summary: `${summary} Default: the one in use.`, env: 'SVC_WORKSPACE', helpValue: 'NAME' });
}

/** Flag of every command that asks before it removes something. */
export const yesFlag = Flags.boolean({ char: 'y', summary: 'Confirm the removal without a question.' });

/** Flag of every command that puts tools into a skill. */
export const allowMissingFlag = Flags.boolean({ summary: 'Accept tools that the MCP server does not offer now.' });

/** A flag that is given once for each value. It cannot be combined with the flags in `exclusive`. */
export function repeatedFlag(summary: string, helpValue: string, exclusive: string[] = []) {
  return Flags.string({ summary, helpValue, multiple: true, multipleNonGreedy: true, exclusive });
}

export interface SharedFlags {
  readonly dir?: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly 'no-input': boolean;
}

/** A command only parses, calls and prints. Its work is in the stack or in a file beside it. */
export abstract class SvcCommand extends Command {
  static override baseFlags = sharedFlags;

  protected terminal(flags: SharedFlags): Terminal {
    enterPhase('running');
    return openTerminal(
      { json: flags.json, quiet: flags.quiet, noInput: flags['no-input'] },
      {
        stdin: process.stdin,
        stdout: process.stdout,
        stderr: process.stderr,
        env: environment,
        // Not config.bin: oclif reads its configuration again for each command.
        asTyped: withName(commandName({ env: environment, script: process.argv[1] }), this.config.commandIDs),
      },
    );
  }

  /** Replaces oclif's errors about flags and arguments. */
  protected override async catch(thrown: unknown): Promise<never> {
    const command = this.config.findCommand(this.id ?? '');
    if (thrown instanceof SvcError || command === undefined) throw thrown;
    const { wrongUse } = await import('./typed/wrong-use.ts');
    throw wrongUse(thrown, command, this.argv) ?? thrown;
  }
}

/** oclif makes the commands, so the environment cannot be passed to them. They read it here. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/**
 * Aborts at the first Ctrl-C or SIGTERM; the second ends the process. A closed terminal sends SIGHUP twice, from the system and from the
 * shell, so that signal only aborts.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => {
    controller.abort(new SvcError('cancelled', 'Interrupted.'));
    // npx passes on the Ctrl-C that the terminal has sent already.
    if (signal !== 'SIGHUP') setTimeout(() => enterPhase('running'), oneCtrlCMs).unref();
  };
  enterPhase('answering');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  return controller.signal;
}

/** Tells svc.cjs who answers Ctrl-C: in `running` it ends the process. */
function enterPhase(phase: 'running' | 'answering'): void {
  const events: EventEmitter = process;
  events.emit('svcPhase', phase);
}

/** Two signals within this time are one Ctrl-C. */
const oneCtrlCMs = 300;

/** A failure that the command has printed already (`keys test`). It only sets the exit code. */
export class AlreadyReported extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('The result was printed already.');
    this.exitCode = exitCode;
  }
}
