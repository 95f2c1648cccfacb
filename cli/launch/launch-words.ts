import { SvcError } from '../../services/contracts/errors.ts';
import { findSecretWord } from '../../services/contracts/secret-words.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { dockerForm, foreignForm } from './foreign-forms.ts';
import { type LaunchVerb, type LaunchWords, launchLine } from './launch-line.ts';

/** oclif reorders repeated words (`-e A -e B`), so the command must not pass through it. */
export function splitLaunch(argv: readonly string[]): LaunchWords {
  const at = argv.indexOf('--');
  return at === -1 ? { own: argv, command: null } : { own: argv.slice(0, at), command: argv.slice(at + 1) };
}

export interface Verb {
  readonly verb: LaunchVerb;
  /** The flags without a value. */
  readonly switches: readonly string[];
}

/** Refuses the forms of other programs, and a command without `--` before it or in quotes, with the line to type. */
export function checkLaunchWords({ own, command }: LaunchWords, { verb, switches }: Verb): void {
  const foreign = dockerForm({ own, command }, switches) ?? foreignForm({ own, command }, switches);
  if (foreign !== null) {
    throw new SvcError('invalid_input', foreign.message, { hint: `Type it as: ${launchLine(verb, foreign)}` });
  }
  const second = secondWord(own, switches);
  const before = own.slice(0, second ?? undefined);
  if (second !== null && command !== null) {
    throw new SvcError('invalid_input', `"${own[second]}" is an unexpected argument: only the name stands before --.`, {
      hint: `Put the whole command after --: ${launchLine(verb, { own: before, command })}`,
    });
  }
  if (second !== null) {
    throw new SvcError('invalid_input', 'The command of an MCP server stands after --.', {
      hint: `Put -- before the command: ${launchLine(verb, { own: before, command: own.slice(second) })}`,
    });
  }
  const [word = '', ...others] = command ?? [];
  if (others.length === 0 && /^[^\s/]+\s/.test(word)) {
    throw new SvcError('invalid_input', `The command "${word}" is one word with spaces.`, {
      hint: `Leave out the quotes: ${launchLine(verb, { own, command: word.split(/\s+/) })}`,
    });
  }
}

/** A secret in an argument stays in the shell's history and shows in the list of processes and in the launch. */
export function refuseSecretWords({ own, command }: LaunchWords, { verb, switches }: Verb): void {
  const found = findSecretWord([...own, ...(command ?? [])]);
  if (found === null) return;
  const setting = settingAt(own, found.at);
  if (setting !== null) {
    const words = { own: own.with(found.at, setting.word), command };
    const isSafe = findSecretWord([...words.own, ...(command ?? [])]) === null;
    const line = isSafe ? launchLine(verb, inOwnForm(words, switches)) : undefined;
    throw secretAsArgument(setting.flag, { name: setting.name, line });
  }
  const way = own.some((word) => /^--url\b/.test(word))
    ? 'Give it as a header, without its value: --header NAME. If the URL itself contains the secret, write it into a file for svc apply. A file works too: --header-file FILE.'
    : `Give it as a variable, without its value: --env NAME. A file works too: --variable-file FILE. If the command takes the secret only as an argument, start it through a shell: --env NAME -- sh -c 'exec COMMAND --token "$NAME"'`;
  throw new SvcError(
    'invalid_input',
    `"${found.shown.slice(0, shownMax)}" looks like a secret, which must not be an argument.`,
    { hint: `${way}\n${typedAlready}` },
  );
}

const shownMax = 200;
const typedAlready = 'Revoke a secret that was typed on a shared machine.';

export interface TypedSecret {
  readonly name: string;
  /** The whole line without the secret, if it is known. */
  readonly line?: string | undefined;
}

/** The refusal of `--env TOKEN=…` and of a header with its value. */
export function secretAsArgument(flag: '--env' | '--header', { name, line }: TypedSecret): SvcError {
  const file = flag === '--env' ? '--variable-file' : '--header-file';
  const form = line ?? `${flag} ${shellWord(name)}`;
  return new SvcError('invalid_input', `The value of "${name}" looks like a secret, which must not be an argument.`, {
    hint: `Leave out the value: ${form}\nThe value then comes from the environment or a prompt. A file works too: ${file} FILE. ${typedAlready}`,
  });
}

/** The setting whose value was typed at this place, and the word without the value. */
function settingAt(own: readonly string[], at: number) {
  const joined = /^--(env|header)=(.*)$/s.exec(own[at] ?? '');
  const flag = joined === null ? own[at - 1] : `--${joined[1]}`;
  const [name = ''] = /^[^=:\s]+/.exec(joined?.[2] ?? own[at] ?? '') ?? [];
  if (at >= own.length || name === '' || findSecretWord([name]) !== null) return null;
  const word = joined === null ? name : `${flag}=${name}`;
  if (flag === '--env' || flag === '-e') return { flag: '--env', name, word } as const;
  return flag === '--header' || flag === '-H' ? ({ flag: '--header', name, word } as const) : null;
}

/** The forms of other programs, and a command without `--`, in our form. */
function inOwnForm(words: LaunchWords, switches: readonly string[]): LaunchWords {
  const foreign = foreignForm(words, switches);
  if (foreign !== null) return foreign;
  const second = words.command === null ? secondWord(words.own, switches) : null;
  if (second === null) return words;
  return { own: words.own.slice(0, second), command: words.own.slice(second) };
}

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
