import { SvcError } from '../services/contracts/errors.ts';
import { oneLine } from '../services/contracts/one-line.ts';
import { shellWord } from '../services/contracts/shell-word.ts';
import { printable } from './output/style.ts';
import type { Terminal } from './output/terminal.ts';

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
  if (await confirmed(question)) return;
  throw new SvcError('cancelled', declined);
}

/** Asks a person for yes or no. The default is no. */
export async function confirmed(question: string): Promise<boolean> {
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message: printable(oneLine(question)), default: false }, { output: process.stderr });
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

export interface Removal {
  /** The object, such as `the skill "echo"`. */
  readonly subject: string;
  /** A sentence for each other object that the removal changes. */
  readonly affected: readonly string[];
  /** Whether the answer was given with --yes. */
  readonly yes: boolean;
}

/** Lists what a removal changes beside the object, and asks for confirmation. Without such changes it asks nothing. */
export async function agreeToRemoval(terminal: Terminal, { subject, affected, yes }: Removal): Promise<void> {
  if (affected.length === 0) return;
  terminal.talk(`Removing ${subject} has consequences:`);
  for (const sentence of affected) terminal.talk(`- ${oneLine(sentence)}`);
  if (yes) return;
  await requireConsent(terminal, {
    question: `Remove ${subject}?`,
    unasked: `Removing ${subject} has consequences, so it must be confirmed.${terminal.asJson ? ` ${inShort(affected)}` : ''}`,
    declined: 'Nothing was removed.',
  });
}

/** A program reads only the error. */
function inShort(affected: readonly string[]): string {
  const left = affected.length - affectedShownMax;
  return affected.slice(0, affectedShownMax).map(oneLine).join(' ') + (left > 0 ? ` And ${left} more.` : '');
}

const affectedShownMax = 5;

export interface NameToType {
  /** Default: the installation. */
  readonly of?: string;
  readonly name: string;
  /** The name given with the flag. */
  readonly typed: string | undefined;
  /** The flag that gives the name; default: --confirm. */
  readonly flag?: string;
  readonly declined: string;
}

/** Throws unless the name was given, with a flag or at a prompt. */
export async function requireName(
  terminal: Terminal,
  { of = 'installation', name, typed, flag = '--confirm', declined }: NameToType,
): Promise<void> {
  if (typed === undefined && !terminal.interactive) {
    throw new SvcError('invalid_input', `The name of the ${of} must be typed.`, {
      hint: `Without a terminal, add ${flag} ${shellWord(name)}.`,
    });
  }
  const { input } = await import('@inquirer/prompts');
  const message = `Type the name of the ${of} (${name})`;
  const said = typed ?? (await input({ message }, { output: process.stderr })).trim();
  if (said === name) return;
  throw new SvcError('invalid_input', `The name of this ${of} is "${name}", not "${said}".`, { hint: declined });
}
