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

export interface NameToType {
  readonly name: string;
  /** With a flag. */
  readonly typed: string | undefined;
  readonly declined: string;
}

/** Throws unless the name of the installation was given, with --confirm or at a prompt. */
export async function requireName(terminal: Terminal, { name, typed, declined }: NameToType): Promise<void> {
  if (typed === undefined && !terminal.interactive) {
    throw new SvcError('invalid_input', 'The name of the installation must be typed.', {
      hint: `Without a terminal, add --confirm ${name}.`,
    });
  }
  const { input } = await import('@inquirer/prompts');
  const message = `Type the name of the installation (${name})`;
  const said = typed ?? (await input({ message }, { output: process.stderr }));
  if (said === name) return;
  throw new SvcError('invalid_input', `The name of this installation is "${name}", not "${said}".`, { hint: declined });
}
