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

/** The same, with the present token of its integration. */
export function createRedactOf({ launch, authorization }: RedactedOrder): Redact {
  const redact = createRedact(launch);
  return (text) => {
    const present = authorization?.();
    return redact(present === undefined ? text : createRedact(onlyHeader(present))(text));
  };
}

interface RedactedOrder {
  readonly launch: Launch;
  readonly authorization?: () => string | undefined;
}

function onlyHeader(authorization: string): Launch {
  return { kind: 'http', url: '', headers: { authorization } };
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
