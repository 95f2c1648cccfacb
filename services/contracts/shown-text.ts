/**
 * A text that somebody else wrote, fit to be stored and shown: well-formed Unicode without control characters except tab and line feed.
 * What is longer than allowed is cut and ends in an ellipsis.
 */
export function shownText(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
  return cut.replace(controlCharacter, ' ').toWellFormed();
}

/** The same on one line. */
export function shownLine(text: string, lengthMax: number): string {
  return shownText(text, lengthMax).replaceAll('\n', ' ');
}

/** Whether a name can be stored and shown as it is. */
export function isShownName(name: string): boolean {
  return name.isWellFormed() && !anyControlCharacter.test(name);
}

const controlCharacter = /[^\P{Cc}\t\n]/gu;
const anyControlCharacter = /\p{Cc}/u;
