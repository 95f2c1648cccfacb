import { oneLine } from '../../services/contracts/one-line.ts';
import { printable } from '../output/style.ts';

/** Asks a person for a secret, which the terminal never shows. A pasted secret often ends in spaces, which are left out. */
export async function askSecret(question: string): Promise<string> {
  return (await askHidden(question, { mask: true })).trim();
}

/** As it was typed. Without a mask, the terminal does not show how long it is either. */
export async function askHidden(question: string, { mask }: { readonly mask: boolean }): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  const message = printable(oneLine(question));
  return await password({ message, mask, toggleMask: false }, { output: process.stderr });
}
