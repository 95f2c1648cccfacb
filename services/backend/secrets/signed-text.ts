import type { WithSecrets } from './secrets.ts';

/** A text that is signed for one purpose is refused for another. */
export type SignedFor = 'refresh token' | 'sign-in link' | 'invitation' | 'new address' | 'file ticket';

/** `TEXT.SIGNATURE`: a text that only this platform can have written. */
export function signText({ secrets }: WithSecrets, purpose: SignedFor, text: string): string {
  return `${text}.${secrets.sign(`${purpose} ${text}`)}`;
}

/** The text; null if this platform did not sign it. Such a text costs no look-up. */
export function readSignedText({ secrets }: WithSecrets, purpose: SignedFor, signed: string): string | null {
  const [, text = '', signature = ''] = signedShape.exec(signed) ?? [];
  return secrets.isSigned(`${purpose} ${text}`, signature) ? text : null;
}

/** A signature is the id of its key and its value. */
const signedShape = /^(.*)\.([\w-]{1,40}\.[\w-]{1,60})$/s;
