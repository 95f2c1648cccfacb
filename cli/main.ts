import { Config } from '@oclif/core/config';
import { run } from '@oclif/core/run';
import { settings } from '@oclif/core/settings';
import { nearest } from '../services/contracts/did-you-mean.ts';
import { SvcError, toSvcError } from '../services/contracts/errors.ts';
import { ToldAlready } from './command.ts';
import { errorToTerminal } from './error-to-terminal.ts';
import { openTerminal } from './output/terminal.ts';

/** Runs one command and sets the exit code; whatever fails is said once, in the form that was asked for. */
export async function runCommandLine(typed: readonly string[], root: string): Promise<void> {
  // A reader that goes away (`svc logs | head -1`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  // What is published is JavaScript: NODE_ENV=development must not make oclif look for TypeScript.
  settings.enableAutoTranspile = false;
  try {
    const config = await Config.load({ root });
    refuseUnknownCommand(typed, config);
    await run([...typed], config);
  } catch (thrown) {
    if (isHelpRequest(thrown)) return;
    if (thrown instanceof ToldAlready) {
      process.exitCode = thrown.exitCode;
      return;
    }
    process.exitCode = errorToTerminal(fromOclif(thrown), terminalFor(typed), Boolean(process.env.SVC_DEBUG));
  }
}

/** Before a command has read its flags, what was typed decides how a failure is told. */
function terminalFor(typed: readonly string[]) {
  const end = typed.indexOf('--');
  const own = end === -1 ? typed : typed.slice(0, end);
  return openTerminal(
    { json: own.includes('--json'), quiet: own.includes('--quiet'), noInput: own.includes('--no-input') },
    { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env },
  );
}

function refuseUnknownCommand(typed: readonly string[], config: Config): void {
  const end = typed.findIndex((word) => word.startsWith('-'));
  const words = end === -1 ? typed : typed.slice(0, end);
  const first = words[0];
  if (first === undefined || first === 'help') return;
  const known = new Set(config.commands.flatMap((command) => [command.id, ...command.aliases]));
  if (known.has(first) || (words[1] !== undefined && known.has(`${first}:${words[1]}`))) return;
  const isTopic = [...known].some((id) => id.startsWith(`${first}:`));
  if (isTopic && words[1] === undefined) return;
  const given = isTopic ? `${first} ${words[1]}` : first;
  const meant = nearest(
    given,
    isTopic ? [...known].map((id) => id.replace(':', ' ')) : [...known].map((id) => id.split(':')[0] ?? id),
  );
  throw new SvcError('invalid_input', `"svc ${given}" is not a command.`, {
    hint: meant === null ? 'See svc --help.' : `Did you mean "svc ${meant}"?`,
  });
}

/** oclif throws its own errors for wrong flags and arguments; its exit codes are not ours. */
function fromOclif(thrown: unknown): unknown {
  if (thrown instanceof SvcError || !(thrown instanceof Error)) return thrown;
  if ('parse' in thrown || 'oclif' in thrown) {
    const lines = thrown.message.split('\n').filter((line) => line.trim() !== '' && !/See more help/.test(line));
    return new SvcError('invalid_input', lines.join('\n'), { hint: 'See the command with --help.' });
  }
  return toSvcError(thrown);
}

function isHelpRequest(thrown: unknown): boolean {
  return thrown instanceof Error && 'oclif' in thrown && thrown.message === 'EEXIT: 0';
}
