import { randomBytes } from 'node:crypto';
import { hiddenSign, withoutHidden } from '../../services/contracts/hidden-characters.ts';

export type Colour = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'grey' | 'bold';

const codes: Record<Colour, number> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  grey: 90,
  bold: 1,
};

/** Part of every style mark of this process. It is random: no foreign text can hold a mark, so no foreign text gets a style. */
const seal = randomBytes(16).toString('hex');
const esc = '\u001b';
const mark = new RegExp(`${esc}${seal}\\[\\d+m`, 'g');
const markAfterCleaning = new RegExp(`${hiddenSign}${seal}\\[`, 'g');
const reset = `${esc}${seal}[0m`;

/** The text between two style marks; the writer turns the marks into colour codes. */
export function styled(colour: Colour, text: string): string {
  return `${esc}${seal}[${codes[colour]}m${text}${reset}`;
}

export function withoutStyle(text: string): string {
  return text.replace(mark, '');
}

/** Gives another text the style of the first. */
export function inStyleOf(styledText: string, text: string): string {
  const [first] = styledText.match(mark) ?? [];
  return first === undefined ? text : `${first}${text}${reset}`;
}

/** The text for a terminal: a sign replaces every control character outside of the platform's own style marks. */
export function printable(text: string): string {
  return withoutHidden(text).replace(markAfterCleaning, `${esc}[`);
}
