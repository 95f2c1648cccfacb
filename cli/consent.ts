import { SvcError } from '../services/contracts/errors.ts';
import { printable } from './output/style.ts';
import type { Terminal } from './output/terminal.ts';
import { oneLine } from './output/width.ts';

export interface Consent {
  /** A question for yes or no. */
  readonly question: string;
  /** The message of the error without a terminal. */
  readonly unasked: string;
  /** The message after a no. */
  readonly declined: string;
}

/** Throws unless a person confirms an action that cannot be undone. */
export async function requireConsent(terminal: Terminal, { question, unasked, declined }: Consent): Promise<void> {
  if (!terminal.interactive) {
    throw new SvcError('invalid_input', unasked, { hint: 'Without a terminal, add --yes.' });
  }
  const { confirm } = await import('@inquirer/prompts');
  const isSure = await confirm({ message: printable(oneLine(question)), default: false }, { output: process.stderr });
  if (!isSure) throw new SvcError('cancelled', declined);
}

export interface Question {
  /** Printed before the question. */
  readonly what: string;
  readonly question: string;
  readonly declined: string;
  /** Whether the answer was given with --yes. */
  readonly yes: boolean;
}

/** Prints the planned action and asks for confirmation. */
export async function makeSure(terminal: Terminal, { what, question, declined, yes }: Question): Promise<void> {
  terminal.talk(what);
  if (yes) return;
  await requireConsent(terminal, { question, unasked: `"${question}" must be answered.`, declined });
}

export interface NameToType {
  readonly name: string;
  /** The name given with the flag. */
  readonly typed: string | undefined;
  /** The flag that gives the name; default: --confirm. */
  readonly flag?: string;
  readonly declined: string;
}

/** Throws unless the name of the installation was given, with a flag or at a prompt. */
export async function requireName(
  terminal: Terminal,
  { name, typed, flag = '--confirm', declined }: NameToType,
): Promise<void> {
  if (typed === undefined && !terminal.interactive) {
    throw new SvcError('invalid_input', 'The name of the installation must be typed.', {
      hint: `Without a terminal, add ${flag} ${name}.`,
    });
  }
  const { input } = await import('@inquirer/prompts');
  const message = `Type the name of the installation (${name})`;
  const said = typed ?? (await input({ message }, { output: process.stderr }));
  if (said === name) return;
  throw new SvcError('invalid_input', `The name of this installation is "${name}", not "${said}".`, { hint: declined });
}
