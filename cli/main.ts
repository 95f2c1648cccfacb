import { Config } from '@oclif/core/config';
import { settings } from '@oclif/core/settings';
import { inWords } from '../services/contracts/system-words.ts';
import { AlreadyReported } from './command.ts';
import { errorToTerminal } from './error-to-terminal.ts';
import { openTerminal } from './output/terminal.ts';
import { parseCommandLine } from './typed/command-line.ts';
import { commandName, withName } from './typed/name.ts';

/** Runs one command and sets the exit code. An error is printed once, as text or as JSON. */
export async function runCommandLine(typed: readonly string[], root: string): Promise<void> {
  endWhereNothingCanBeWritten();
  // The package holds JavaScript only: NODE_ENV=development must not make oclif look for TypeScript.
  settings.enableAutoTranspile = false;
  let asTyped = (text: string) => text;
  try {
    // Without oclif's own plugins: their folder is in a home that may belong to another user.
    const config = await Config.load({ root, userPlugins: false });
    config.bin = commandName({ env: process.env, script: process.argv[1] });
    asTyped = withName(config.bin, config.commandIDs);
    const line = parseCommandLine(typed, config);
    if (line.kind === 'command') await config.runCommand(line.id, [...line.words]);
    else await (await import('./help.ts')).showHelp(config, line.id);
  } catch (thrown) {
    if (thrown instanceof AlreadyReported) {
      process.exitCode = thrown.exitCode;
      return;
    }
    process.exitCode = errorToTerminal(thrown, terminalFor(typed, asTyped), Boolean(process.env.SVC_DEBUG));
  }
}

/** A closed pipe (`svc logs | head -1`) is not a failure. A full disk is one. */
function endWhereNothingCanBeWritten(): void {
  // oclif's own listener, which its import adds, throws.
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`Error: The result could not be written to stdout: ${inWords(error)}.\n`);
    process.exit(1);
  });
  // Nothing can be reported when stderr itself is closed.
  process.stderr.on('error', () => undefined);
}

/** Before a command has parsed its flags, the typed words decide between text and JSON. */
function terminalFor(typed: readonly string[], asTyped: (text: string) => string) {
  const end = typed.indexOf('--');
  const own = end === -1 ? typed : typed.slice(0, end);
  return openTerminal(
    { json: own.includes('--json'), quiet: own.includes('--quiet'), noInput: own.includes('--no-input') },
    { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env, asTyped },
  );
}
