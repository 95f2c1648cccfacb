import { Secret } from './secret.ts';

/**
 * The kind of a key. `legacy` keys (USK) are user keys of older installations: accepted, never issued. `token` is a
 * signed token in place of a key: of the command line (contracts/token.ts), or of an agent that signed in by OAuth.
 */
export type KeyKind = 'user' | 'legacy' | 'runtime' | 'system' | 'token';

/** Why a text is not a key, decided from the text alone, before any look-up. */
export type KeyRefusal = 'missing' | 'retired' | 'unknown_prefix' | 'malformed' | 'checksum';

export type ParsedKey =
  | { readonly ok: true; readonly kind: KeyKind; readonly key: Secret; readonly hint: string }
  | { readonly ok: false; readonly refusal: KeyRefusal };

export const keyPrefixes = { user: 'SVA_', runtime: 'RTK_', system: 'SYK_' } as const;
const legacyPrefix = 'USK';
const retiredPrefix = 'WSK_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretBytes = 32;
const secretLength = 43; // 62^43 > 2^256
const checksumLength = 6; // 62^6 > 2^32
const legacyLengthMax = 512;
/** A compact JWS (RFC 7515 §7.1) whose header begins with `{"`. */
const tokenShape = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
/** A token of an agent names its client by a URL. */
export const tokenLengthMax = 2048;
const hintedLengthMin = 16; // four characters of a shorter text would reveal too much

/** A new key: prefix, 32 random bytes, and a checksum, so that a typo is refused without a look-up. */
export function newKey(kind: keyof typeof keyPrefixes): Secret {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes));
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  const body = base62(number, secretLength);
  return new Secret(`${keyPrefixes[kind]}${body}${checksum(keyPrefixes[kind] + body)}`);
}

export function parseKey(text: string): ParsedKey {
  if (text === '') return refused('missing');
  if (text.startsWith(retiredPrefix)) return refused('retired');
  if (text.startsWith(legacyPrefix)) {
    return /^USK[\x21-\x7e]+$/.test(text) && text.length <= legacyLengthMax
      ? accepted('legacy', text)
      : refused('malformed');
  }
  for (const kind of ['user', 'runtime', 'system'] as const) {
    if (text.startsWith(keyPrefixes[kind])) return checked(kind, text);
  }
  if (text.length <= tokenLengthMax && tokenShape.test(text)) return accepted('token', text);
  return refused('unknown_prefix');
}

/** The form in which a created key is shown: enough to recognise it, useless to an attacker. */
export function keyHint(text: string): string {
  const prefix = /^[A-Z]{3}_?/.exec(text)?.[0] ?? '';
  const shown = text.length - prefix.length >= hintedLengthMin ? text.slice(-4) : '';
  return `${prefix}…${shown}`;
}

/**
 * Texts that look like a key, or like the beginning of a truncated one. An older key may contain any visible character.
 */
const keyLike = /((?:SVA|RTK|SYK|WSK)_)[0-9A-Za-z_-]{6,}|(?<![0-9A-Za-z])(USK)[\x21-\x7e]{6,}[0-9A-Za-z]/g;

/** The text without its keys: only the prefix of each is left. */
export function withoutKeys(text: string): string {
  return text.replace(keyLike, (_key, prefix: string | undefined, older: string | undefined) => `${prefix ?? older}…`);
}

function checked(kind: keyof typeof keyPrefixes, text: string): ParsedKey {
  const end = keyPrefixes[kind].length + secretLength;
  if (text.length !== end + checksumLength || !/^[A-Z]{3}_[0-9A-Za-z]+$/.test(text)) return refused('malformed');
  return checksum(text.slice(0, end)) === text.slice(end) ? accepted(kind, text) : refused('checksum');
}

function accepted(kind: KeyKind, text: string): ParsedKey {
  return { ok: true, kind, key: new Secret(text), hint: keyHint(text) };
}

function refused(refusal: KeyRefusal): ParsedKey {
  return { ok: false, refusal };
}

function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return base62(BigInt((crc ^ 0xffffffff) >>> 0), checksumLength);
}

function base62(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
