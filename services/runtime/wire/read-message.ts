/** A JSON-RPC 2.0 message from an MCP server. Payloads are JSON text, exactly as it came wherever that is possible. */
export type Incoming =
  | { readonly kind: 'result'; readonly id: number; readonly payload: Uint8Array }
  | { readonly kind: 'error'; readonly id: number; readonly payload: Uint8Array }
  | { readonly kind: 'request'; readonly id: string | number; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown; readonly payload: Uint8Array };

/**
 * Reads one line. A response is by far the most frequent message: what stands before and after its value is recognised as text,
 * the value alone is parsed, which proves it to be one whole JSON value, and its bytes are passed on as they are. That keeps
 * numbers exact and costs one parse; parsing and writing anew costs three times that. Null where the line is no message.
 */
export function readMessage(line: Buffer): readonly Incoming[] | null {
  if (!endsAsMessage(line)) return null;
  const text = line.toString('utf8');
  const response = readResponse(line, text);
  if (response !== null) return [response];
  return readUnusual(line, text);
}

/** A line that was cut off may be long, and is not worth a parse. */
function endsAsMessage(line: Buffer): boolean {
  let end = line.length;
  while (end > 0 && whiteSpace.includes(line[end - 1])) end--;
  return end > 0 && brackets.includes(line[end - 1]);
}

const whiteSpace: readonly (number | undefined)[] = [...Buffer.from(' \t\r\n')];
const brackets: readonly (number | undefined)[] = [...Buffer.from('}]')];

function readUnusual(line: Buffer, text: string): readonly Incoming[] | null {
  const parsed = parseJson(text);
  // Revision 2025-03-26 allows batches ("Base Protocol", "Batching"), so a server of that age may send one.
  const parts = Array.isArray(parsed) ? parsed.slice(0, batchMax) : [parsed];
  try {
    const messages = parts.flatMap((part) => classify(part, Array.isArray(parsed) ? null : line) ?? []);
    return messages.length === 0 ? null : messages;
  } catch {
    return null; // Nested so deeply that it can be read but not written.
  }
}

/** The id of a response too long to be read, from its two ends; null where it is no response. */
export function responseIdFromEnds(head: Buffer, tail: Buffer): number | null {
  const before = matchHead(head.toString('utf8'));
  if (before === null) return null;
  const id = before.id ?? matchTail(tail.toString('utf8'))?.id;
  return id === undefined ? null : Number(id);
}

const batchMax = 1000;
/** All that may follow a response's value: two short members, a brace and some white space. */
const tailMaxChars = 96;

// The members beside the value, in either order. A group that is repeated forgets what it caught, so each order is written out.
const version = '"jsonrpc"\\s*:\\s*"2\\.0"';
const ownId = '"id"\\s*:\\s*(\\d{1,15})';
const comma = '\\s*,\\s*';
const before = `(?:${version}${comma}(?:${ownId}${comma})?|${ownId}${comma}(?:${version}${comma})?)?`;
const after = `(?:${comma}${version}(?:${comma}${ownId})?|${comma}${ownId}(?:${comma}${version})?)?`;
const headPattern = new RegExp(`\\s*\\{\\s*${before}"(result|error)"\\s*:\\s*`, 'y');
const tailPattern = new RegExp(`${after}\\s*\\}\\s*$`);

function readResponse(line: Buffer, text: string): Incoming | null {
  const head = matchHead(text);
  if (head === null) return null;
  const tail = matchTail(text.slice(-tailMaxChars));
  const id = head.id ?? tail?.id;
  if (tail === null || id === undefined) return null;
  const valueText = text.slice(head.length, text.length - tail.length);
  const value = parseJson(valueText);
  if (value === undefined || (head.kind === 'error' && !isObject(value))) return null;
  // Head and tail are ASCII, so their lengths in characters are their lengths in bytes whatever lies between.
  const bytes = line.subarray(head.length, line.length - tail.length);
  return { kind: head.kind, id: Number(id), payload: isBroken(valueText) ? Buffer.from(valueText) : bytes };
}

/** Bytes that are not UTF-8 were read as this character; JSON is passed on as UTF-8 (RFC 8259, section 8.1) or not at all. */
function isBroken(text: string): boolean {
  return text.includes('\ufffd');
}

function matchHead(text: string): { kind: 'result' | 'error'; id: string | undefined; length: number } | null {
  headPattern.lastIndex = 0;
  const match = headPattern.exec(text);
  if (match === null) return null;
  return { kind: match[3] === 'error' ? 'error' : 'result', id: match[1] ?? match[2], length: headPattern.lastIndex };
}

function matchTail(text: string): { id: string | undefined; length: number } | null {
  const match = tailPattern.exec(text);
  return match === null ? null : { id: match[1] ?? match[2], length: match[0].length };
}

/** `line` is the text of the message where it stands alone. */
function classify(message: unknown, line: Buffer | null): Incoming | null {
  if (!isObject(message)) return null;
  const { id, method } = message;
  if (typeof method === 'string') {
    if (typeof id === 'string' || typeof id === 'number') return { kind: 'request', id, method };
    if (id !== undefined) return null;
    return { kind: 'notification', method, params: message.params, payload: line ?? toJson(message) };
  }
  if (typeof id !== 'number') return null;
  if (message.result !== undefined) return { kind: 'result', id, payload: toJson(message.result) };
  return isObject(message.error) ? { kind: 'error', id, payload: toJson(message.error) } : null;
}

/** Undefined, which no JSON text is, where the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
