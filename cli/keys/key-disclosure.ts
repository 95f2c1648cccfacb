import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { defaultDisclosure, type KeyDisclosure, keyDisclosures } from '../../services/contracts/key-disclosure.ts';
import { describeSize, type ToolListSizes } from '../objects/tool-list-size.ts';
import type { Terminal } from '../output/terminal.ts';

/** Flag of the commands that make or change a key. */
export function disclosureFlag() {
  return Flags.string({
    summary: 'Tools listed from the start: those of loaded skills (skills), or of every skill (all).',
    helpValue: keyDisclosures.join('|'),
  });
}

/** The value of `--disclosure`. */
export function parseDisclosure(text: string | undefined): KeyDisclosure | undefined {
  if (text === undefined) return undefined;
  const known = keyDisclosures.find((one) => one === text);
  if (known !== undefined) return known;
  throw new SvcError('invalid_input', `--disclosure must be one of ${keyDisclosures.join(', ')}, not "${text}".`);
}

/** The words of `keys list` and `keys show`. */
export const disclosureWords: Readonly<Record<KeyDisclosure, string>> = {
  skills: 'of loaded skills',
  all: 'all',
};

interface Choice {
  /** The value of --disclosure. */
  readonly given: KeyDisclosure | undefined;
  readonly sizes: ToolListSizes | null;
}

/** Asks at a terminal, with the price of both choices; elsewhere it tells the price. */
export async function chooseDisclosure(terminal: Terminal, { given, sizes }: Choice): Promise<KeyDisclosure> {
  const isChoice = sizes !== null && sizes.all.tools > sizes.skills.tools;
  if (given !== undefined || !terminal.interactive || !isChoice) {
    const chosen = given ?? defaultDisclosure;
    tellSizes(terminal, chosen, sizes);
    return chosen;
  }
  const { select } = await import('@inquirer/prompts');
  return await select<KeyDisclosure>(
    {
      message: 'Which tools does an agent with this key list from the start?',
      default: defaultDisclosure,
      choices: [
        { value: 'skills', name: `Those of skills that it loads: ${describeSize(sizes.skills)} at first` },
        { value: 'all', name: `All, for clients that list tools once: ${describeSize(sizes.all)}` },
      ],
    },
    { output: process.stderr },
  );
}

/** What the choice costs, and the other one. */
function tellSizes(terminal: Terminal, chosen: KeyDisclosure, sizes: ToolListSizes | null): void {
  if (sizes === null) {
    terminal.talk('The tools of this key could not be counted now.');
    return;
  }
  const other = chosen === 'all' ? 'skills' : 'all';
  terminal.talk(`An agent with it first lists ${describeSize(sizes[chosen])}.`);
  if (sizes.all.tools > sizes.skills.tools) {
    terminal.talk(`With --disclosure ${other}: ${describeSize(sizes[other])}.`);
  }
}
