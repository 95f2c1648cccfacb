import type { Launch } from '../../contracts/bus/messages.ts';

/** Replaces secrets in a text. */
export type Redact = (text: string) => string;

/** Shorter values are words like "1", "on" and "en": redacting them would make a text unreadable and hide nothing. */
const secretMinLength = 4;

/** Redacts every value of an MCP server's environment, headers and URL, because any of them may be a secret. */
export function createRedact(launch: Launch): Redact {
  const secrets = [...new Set(valuesOf(launch).flatMap(formsOf))].sort((a, b) => b.length - a.length);
  if (secrets.length === 0) return (text) => text;
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

export interface Authorized {
  readonly launch: Launch;
  /** The present value of the header Authorization. */
  readonly authorization?: (() => string | undefined) | undefined;
}

export interface SeenAuthorization {
  readonly authorization: () => string | undefined;
  readonly redact: Redact;
}

/** An answer may quote a token that was renewed while it was on its way. */
const tokensRemembered = 3;

/** Redacts the values of the launch, and the last tokens that `authorization` has given. */
export function seeAuthorization({ launch, authorization }: Authorized): SeenAuthorization {
  const redact = createRedact(launch);
  const seen = new Map<string, Redact>();
  return {
    authorization: () => {
      const present = authorization?.();
      if (present === undefined || seen.has(present)) return present;
      seen.set(present, createRedact({ kind: 'http', url: '', headers: { authorization: present } }));
      const [oldest] = seen.keys();
      if (seen.size > tokensRemembered && oldest !== undefined) seen.delete(oldest);
      return present;
    },
    redact: (text) => [...seen.values()].reduce((redacted, redactToken) => redactToken(redacted), redact(text)),
  };
}

function valuesOf(launch: Launch): readonly string[] {
  if (launch.kind === 'child') return Object.values(launch.env);
  const url = URL.canParse(launch.url) ? new URL(launch.url) : null;
  const inUrl = url === null ? [] : [url.username, url.password, ...url.searchParams.values()];
  return [...Object.values(launch.headers), ...inUrl];
}

/** The forms of a value in a text: whole, line by line, without the scheme of an Authorization header, encoded. */
function formsOf(value: string): readonly string[] {
  const parts = [value, ...value.split(/\r?\n/), ...value.split(' ')].map((part) => part.trim());
  return parts
    .filter((part) => part.length >= secretMinLength)
    .flatMap((part) => [
      part,
      encodeURIComponent(part),
      JSON.stringify(part).slice(1, -1),
      ...encoded(Buffer.from(part)),
    ]);
}

function encoded(value: Buffer): readonly string[] {
  const hex = value.toString('hex');
  const base64 = [value.toString('base64'), ...[0, 1, 2].map((before) => base64Within(value, before))];
  return [hex, hex.toUpperCase(), ...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

/**
 * The base64 characters of a longer text that depend only on this value at this offset, such as `user:password` of
 * Basic authentication (RFC 4648 §4).
 */
function base64Within(value: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), value])
    .toString('base64')
    .replaceAll('=', '');
  const end = ((before + value.length) * 8) % 6 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((before * 8) / 6), end);
}
