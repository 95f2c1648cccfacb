import { dropHidden } from './hidden-characters.ts';

/**
 * Makes a foreign text fit to be stored and shown: well-formed Unicode without hidden characters, and without controls
 * except tab and line feed. A longer text is cut and ends in an ellipsis.
 */
export function shownText(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
  return dropHidden(cut.toWellFormed().replace(separator, ' '));
}

/** The same on one line. */
export function shownLine(text: string, lengthMax: number): string {
  return shownText(text, lengthMax).replaceAll('\n', ' ');
}

/** Whether a name can be stored and shown unchanged, and cannot imitate another. */
export function isShownName(name: string): boolean {
  return name.isWellFormed() && !notInNames.test(name) && dropHidden(name) === name;
}

const separator = /[\u2028\u2029]|[^\P{Cc}\t\n]/gu;
const notInNames = /\p{Cc}|\p{Join_Control}/u;
