import { SvcError } from '../services/contracts/errors.ts';
import { shellWord } from './shell-word.ts';

/** What was typed after `svc server add`, split at `--`: our own words, and the command of the MCP server word by word. */
export interface LaunchWords {
  readonly own: readonly string[];
  /** Null: there was no `--`. */
  readonly command: readonly string[] | null;
}

/** oclif puts words that stand twice next to each other (`-e A -e B`): the command never goes through it. */
export function splitLaunch(argv: readonly string[]): LaunchWords {
  const at = argv.indexOf('--');
  return at === -1 ? { own: argv, command: null } : { own: argv.slice(0, at), command: argv.slice(at + 1) };
}

/** Refuses a command that does not stand behind `--`, or stands there in quotes. `switches`: the flags without a value. */
export function checkLaunchWords({ own, command }: LaunchWords, switches: readonly string[]): void {
  const second = secondWord(own, switches);
  const before = own.slice(0, second ?? undefined);
  if (second !== null && command !== null) {
    throw new SvcError('invalid_input', `"${own[second]}" is one word too many: before -- there is only the name.`, {
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

/** Where the second word is that is no flag and no flag's value: the first is the name. */
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
