import { SvcError } from './errors.ts';

declare const brand: unique symbol;

/** The sha256 of bytes, as 64 hexadecimal digits: the bytes' name. */
export type Digest = string & { readonly [brand]: 'digest' };

export function findDigest(text: string): Digest | null {
  return /^[0-9a-f]{64}$/.test(text) ? (text as Digest) : null;
}

export function parseDigest(text: string): Digest {
  const digest = findDigest(text);
  if (digest !== null) return digest;
  throw new SvcError(
    'invalid_input',
    `"${text.slice(0, 80)}" is not a digest: it must be sha256 in 64 digits of 0-9 and a-f.`,
  );
}
