/**
 * Characters that a terminal executes, or that turn or hide the text beside them. These are controls, bidirectional
 * controls, line and paragraph separators, lone surrogates, tags and other invisible characters. Emoji and scripts need
 * joiners and the first variation selectors, so these stay.
 */
const hidden =
  /(?!\n|\t|\p{Join_Control}|(?![\u{e0100}-\u{e01ef}])\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The sign in place of a hidden character: as wide as a letter, so that a layout holds. */
export const hiddenSign = '\ufffd';

/** The text for people: a sign replaces each hidden character. Line breaks and tabs stay. */
export function withoutHidden(text: string): string {
  return text.replace(hidden, hiddenSign);
}

/** The same JSON with its hidden characters escaped, safe to print. */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** The text without its hidden characters. */
export function dropHidden(text: string): string {
  return text.replace(hidden, '');
}
