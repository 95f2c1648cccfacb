import { SvcError } from './errors.ts';

export const passwordLength = { min: 10, max: 200 } as const;

/** Keyboards write "é" as one character or as two (RFC 8265 §4.2). */
export function normalisePassword(text: string): string {
  return text.normalize('NFC');
}

/** Throws unless the text may become the password of the person with this address. */
export function checkPassword(text: string, email: string): void {
  const password = normalisePassword(text);
  const { length } = [...password];
  if (length < passwordLength.min || length > passwordLength.max) {
    throw new SvcError(
      'invalid_input',
      `A password must have ${passwordLength.min} to ${passwordLength.max} characters; this one has ${length}.`,
    );
  }
  if (password.toLowerCase() === email.toLowerCase()) {
    throw new SvcError('invalid_input', 'A password must not be the e-mail address.');
  }
}
