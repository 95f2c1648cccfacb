import { SvcError } from '../services/contracts/errors.ts';
import { printable } from './output/style.ts';
import type { Terminal } from './output/terminal.ts';
import { oneLine } from './output/width.ts';

export interface Consent {
  /** What is asked, to be answered with yes or no. */
  readonly question: string;
  /** What must be said where nobody can be asked. */
  readonly unasked: string;
  /** What a no means. */
  readonly declined: string;
}

/** Throws where a person says no to what cannot be taken back, and where nobody can be asked. */
export async function requireConsent(terminal: Terminal, { question, unasked, declined }: Consent): Promise<void> {
  if (!terminal.interactive) {
    throw new SvcError('invalid_input', unasked, { hint: 'Without a terminal, say so with --yes.' });
  }
  const { confirm } = await import('@inquirer/prompts');
  const isSure = await confirm({ message: printable(oneLine(question)), default: false }, { output: process.stderr });
  if (!isSure) throw new SvcError('cancelled', declined);
}
