import { isUtf8 } from 'node:buffer';
import { isObject } from '../../contracts/is-object.ts';
import { isJson, scanJson, tooDeep } from '../../kit/scan-json.ts';

/** A JSON-RPC 2.0 message from an MCP server. Payloads are well-formed JSON text, unchanged wherever possible. */
export type Incoming =
  | { readonly kind: 'result'; readonly id: number; readonly payload: Uint8Array }
  | { readonly kind: 'error'; readonly id: number; readonly payload: Uint8Array }
  /** A response that cannot be passed on. */
  | { readonly kind: 'unusable'; readonly id: number; readonly why: Unusable }
  | { readonly kind: 'request'; readonly id: string | number; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown; readonly payload: Uint8Array };

export type Unusable = 'not_json' | 'too_deep';

/**
 * Reads one line. A response is by far the most frequent message, so the text before and after its value is matched.
 * One scan proves that the value is JSON, and its bytes are passed on unchanged. Null if the line is not a message.
 */
export function readMessage(given: Buffer): readonly Incoming[] | null {
  if (!endsAsMessage(given)) return null;
  // JSON is passed on as UTF-8 (RFC 8259, section 8.1) or not at all.
  const line = isUtf8(given) ? given : Buffer.from(given.toString('utf8'));
  const response = readResponse(line);
  if (response !== null) return [response];
  return isJson(line) ? readUnusual(line) : readUnusable(line);
}

/** A truncated line may be long, and is not worth a parse. */
function endsAsMessage(line: Buffer): boolean {
  let end = line.length;
  while (end > 0 && whiteSpace.includes(line[end - 1])) end--;
  return end > 0 && brackets.includes(line[end - 1]);
}

const whiteSpace: readonly (number | undefined)[] = [...Buffer.from(' \t\r\n')];
const brackets: readonly (number | undefined)[] = [...Buffer.from('}]')];

function readUnusual(line: Buffer): readonly Incoming[] | null {
  const parsed: unknown = JSON.parse(line.toString('utf8'));
  // Revision 2025-03-26 allows batches ("Base Protocol", "Batching"), so an older MCP server may send one.
  const parts = Array.isArray(parsed) ? parsed.slice(0, batchMax) : [parsed];
  const messages = parts.flatMap((part) => classify(part, Array.isArray(parsed) ? null : line) ?? []);
  return messages.length === 0 ? null : messages;
}

/** A response whose value is not JSON, or nested too deeply: its caller need not wait until the deadline. */
function readUnusable(line: Buffer): readonly Incoming[] | null {
  const id = responseIdFromEnds(line.subarray(0, endsMaxBytes), line.subarray(-endsMaxBytes));
  if (id === null) return null;
  return [{ kind: 'unusable', id, why: scanJson(line) === tooDeep ? 'too_deep' : 'not_json' }];
}

/** The id of a response that is too long to be read, from its two ends; null when it is not a response. */
export function responseIdFromEnds(head: Buffer, tail: Buffer): number | null {
  const before = matchHead(head.toString('utf8'));
  if (before === null) return null;
  const id = before.id ?? matchTail(tail.toString('utf8'))?.id;
  return id === undefined ? null : Number(id);
}

const batchMax = 1000;
/** Longest text before a response's value: two short members and some white space. */
const headMaxBytes = 128;
/** Longest text after it: the same, and a brace. */
const tailMaxBytes = 96;
const endsMaxBytes = 256;

// The members beside the value, in either order. A repeated group forgets its match, so each order is written out.
const space = '[ \\t\\r\\n]*';
const version = `"jsonrpc"${space}:${space}"2\\.0"`;
const ownId = `"id"${space}:${space}(\\d{1,15})`;
const comma = `${space},${space}`;
const before = `(?:${version}${comma}(?:${ownId}${comma})?|${ownId}${comma}(?:${version}${comma})?)?`;
const after = `(?:${comma}${version}(?:${comma}${ownId})?|${comma}${ownId}(?:${comma}${version})?)?`;
const headPattern = new RegExp(`${space}\\{${space}${before}"(result|error)"${space}:${space}`, 'y');
const tailPattern = new RegExp(`${after}${space}\\}${space}$`);
const wholeTailPattern = new RegExp(`^${tailPattern.source}`);

function readResponse(line: Buffer): Incoming | null {
  const head = matchHead(line.toString('latin1', 0, headMaxBytes));
  if (head === null) return null;
  const end = scanJson(line, head.length);
  if (end < 0 || line.length - end > tailMaxBytes) return null;
  const tail = wholeTailPattern.exec(line.toString('latin1', end));
  const id = head.id ?? tail?.[1] ?? tail?.[2];
  if (tail === null || id === undefined) return null;
  if (head.kind === 'error' && line[head.length] !== openBrace) return null;
  return { kind: head.kind, id: Number(id), payload: line.subarray(head.length, end) };
}

const openBrace = 123;

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

/** `line` is the text of the message if it stands alone. */
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

function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
