import { Config } from '@oclif/core/config';
import { settings } from '@oclif/core/settings';
import { inWords } from '../services/contracts/system-words.ts';
import { ToldAlready } from './command.ts';
import { errorToTerminal } from './error-to-terminal.ts';
import { commandName, withName } from './name.ts';
import { openTerminal } from './output/terminal.ts';
import { wantedBy } from './wanted.ts';

/** Runs one command and sets the exit code; whatever fails is said once, in the form that was asked for. */
export async function runCommandLine(typed: readonly string[], root: string): Promise<void> {
  endWhereNothingCanBeWritten();
  // What is published is JavaScript: NODE_ENV=development must not make oclif look for TypeScript.
  settings.enableAutoTranspile = false;
  let asTyped = (text: string) => text;
  try {
    const config = await Config.load({ root });
    config.bin = commandName({ env: process.env, script: process.argv[1] });
    asTyped = withName(config.bin, config.commandIDs);
    const wanted = wantedBy(typed, config);
    if (wanted.kind === 'command') await config.runCommand(wanted.id, [...wanted.words]);
    else await (await import('./help.ts')).showHelp(config, wanted.id);
  } catch (thrown) {
    if (thrown instanceof ToldAlready) {
      process.exitCode = thrown.exitCode;
      return;
    }
    process.exitCode = errorToTerminal(thrown, terminalFor(typed, asTyped), Boolean(process.env.SVC_DEBUG));
  }
}

/** A reader that goes away (`svc logs | head -1`) is no failure; a full disk is one. */
function endWhereNothingCanBeWritten(): void {
  // oclif's own listener, which came with its import, throws.
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`Error: The result could not be written to stdout: ${inWords(error)}.\n`);
    process.exit(1);
  });
  // Where nobody listens to complaints there is nobody to complain to.
  process.stderr.on('error', () => undefined);
}

/** Before a command has read its flags, what was typed decides how a failure is told. */
function terminalFor(typed: readonly string[], asTyped: (text: string) => string) {
  const end = typed.indexOf('--');
  const own = end === -1 ? typed : typed.slice(0, end);
  return openTerminal(
    { json: own.includes('--json'), quiet: own.includes('--quiet'), noInput: own.includes('--no-input') },
    { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env, asTyped },
  );
}
