import { SvcError } from '../services/contracts/errors.ts';
import { findSecretWord } from '../services/contracts/secret-words.ts';
import { shellWord } from './shell-word.ts';

/** The arguments of `svc server add`, split at `--` into the words for svc and the command of the MCP server. */
export interface LaunchWords {
  readonly own: readonly string[];
  /** Null: there was no `--`. */
  readonly command: readonly string[] | null;
}

/** oclif reorders repeated words (`-e A -e B`), so the command must not pass through it. */
export function splitLaunch(argv: readonly string[]): LaunchWords {
  const at = argv.indexOf('--');
  return at === -1 ? { own: argv, command: null } : { own: argv.slice(0, at), command: argv.slice(at + 1) };
}

/** Refuses a command without `--` before it, or in quotes. `switches` are the flags without a value. */
export function checkLaunchWords({ own, command }: LaunchWords, switches: readonly string[]): void {
  const second = secondWord(own, switches);
  const before = own.slice(0, second ?? undefined);
  if (second !== null && command !== null) {
    throw new SvcError('invalid_input', `"${own[second]}" is an unexpected argument: only the name stands before --.`, {
      hint: `Put the whole command after --: ${addLine(before, command)}`,
    });
  }
  if (second !== null) {
    throw new SvcError('invalid_input', 'The command of an MCP server stands after --.', {
      hint: `Put -- before the command: ${addLine(before, own.slice(second))}`,
    });
  }
  const [word = '', ...others] = command ?? [];
  if (others.length === 0 && /^[^\s/]+\s/.test(word)) {
    throw new SvcError('invalid_input', `The command "${word}" is one word with spaces.`, {
      hint: `Leave out the quotes: ${addLine(own, word.split(/\s+/))}`,
    });
  }
}

/** A secret in an argument stays in the shell's history and shows in the list of processes and in the launch. */
export function refuseSecretWords({ own, command }: LaunchWords): void {
  const found = findSecretWord([...own, ...(command ?? [])]);
  if (found === null) return;
  const way = own.some((word) => /^--url\b/.test(word))
    ? 'Write it as a "Name: value" line to a file for --header-file. If the URL itself contains the secret, write it into a file for svc apply.'
    : `Write it as a NAME=value line to a file for --variable-file. If the command takes the secret only as an argument, start it through a shell: -- sh -c 'exec COMMAND --token "$NAME"'`;
  throw new SvcError(
    'invalid_input',
    `"${found.shown.slice(0, shownMax)}" looks like a secret, which must not be an argument.`,
    {
      hint: `${way}\nIn a file for svc apply, { fromEnv: NAME } takes it from the environment. Revoke a secret that was typed on a shared machine.`,
    },
  );
}

const shownMax = 200;

/** The index of the second word that is neither a flag nor a flag's value. The first is the name. */
function secondWord(own: readonly string[], switches: readonly string[]): number | null {
  let words = 0;
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    if (!word.startsWith('-')) words++;
    else if (!word.includes('=') && !switches.includes(word)) at++;
    if (words === 2) return at;
  }
  return null;
}

function addLine(own: readonly string[], command: readonly string[]): string {
  return ['svc server add', ...[...own, '--', ...command].map(shellWord)].join(' ');
}
