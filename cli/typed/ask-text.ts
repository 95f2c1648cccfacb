import { oneLine } from '../../services/contracts/one-line.ts';
import { printable } from '../output/style.ts';

/** Asks a person for a text on one line. */
export async function askText(question: string): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return (await input({ message: printable(oneLine(question)) }, { output: process.stderr })).trim();
}
