import { type Msg, type MsgHdrs, headers as newHeaders } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { frameMaxBytes, type Headers, headersMaxLength, payloadMaxBytes } from '../bus.ts';
import { areHeaders } from '../copies.ts';

/**
 * Meaning of a NATS message. `question`, `interim`, `final` and `message` carry payloads, possibly in several frames.
 * `accepted` names the responder, `waiting` asks whether it still works on the question, `unknown` denies it.
 */
export const frameKinds = [
  'message',
  'question',
  'accepted',
  'interim',
  'final',
  'error',
  'received',
  'cancel',
  'waiting',
  'unknown',
] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface Frame {
  readonly kind: FrameKind;
  /** More frames of the same payload follow. */
  readonly more: boolean;
  /** The message's headers, sent with its last frame. */
  readonly headers: Headers;
  readonly payload: Uint8Array;
  /** Distinguishes several messages of one sender that come in frames. */
  readonly id?: string;
}

const noHeaders: Headers = Object.freeze({});
const empty = new Uint8Array(0);

/** Cuts a payload into frames. The payload must already be the bus's own copy. */
export function framesOf(kind: FrameKind, payload: Uint8Array, headers: Headers, id?: string): readonly Frame[] {
  if (payload.byteLength <= frameMaxBytes) return [{ kind, more: false, headers, payload }];
  const frames: Frame[] = [];
  for (let at = 0; at < payload.byteLength; at += frameMaxBytes) {
    const part = payload.subarray(at, at + frameMaxBytes);
    const more = at + frameMaxBytes < payload.byteLength;
    frames.push({
      kind,
      more,
      headers: more ? noHeaders : headers,
      payload: part,
      ...(id === undefined ? {} : { id }),
    });
  }
  return frames;
}

export function signalFrame(kind: 'accepted' | 'received' | 'cancel' | 'waiting' | 'unknown', text = ''): Frame {
  return { kind, more: false, headers: noHeaders, payload: Buffer.from(text) };
}

const kindHeader = 'Svc-Frame';
const idHeader = 'Svc-Message';
const ownHeaders = 'Svc-Headers';

/** NATS headers for a frame; a message in one frame without own headers needs none. */
export function toNatsHeaders({ kind, more, headers, id }: Frame): MsgHdrs | undefined {
  const own = hasAny(headers);
  if (kind === 'message' && !more && !own && id === undefined) return undefined;
  const result = newHeaders();
  result.set(kindHeader, more ? `${kind}+` : kind);
  if (id !== undefined) result.set(idHeader, id);
  if (own) result.set(ownHeaders, JSON.stringify(headers));
  return result;
}

/** JSON writes a character as six at most, and adds six around each name and value. */
const headersTextMaxLength = 8 * headersMaxLength;

/** Null if it is not a frame of the bus, or larger than the bus's own client sends. */
export function readFrame(message: Msg): Frame | null {
  const { data } = message;
  const headers = headersOf(message);
  if (headers === null || data.byteLength > frameMaxBytes) return null;
  if (headers === undefined) return { kind: 'message', more: false, headers: {}, payload: data };
  const text = headers.get(kindHeader);
  const more = text.endsWith('+');
  const kind = frameKinds.find((known) => known === (more ? text.slice(0, -1) : text));
  if (kind === undefined) return null;
  const own = readHeaders(headers.get(ownHeaders));
  if (own === null) return null;
  const id = headers.get(idHeader);
  return { kind, more, headers: own, payload: data, ...(id === '' ? {} : { id }) };
}

/** Bytes of a message with its headers, without decoding them. The client's type of a message does not declare this. */
export function sizeOf(message: Msg): number {
  return 'size' in message && typeof message.size === 'function' ? Number(message.size()) : message.data.byteLength;
}

/** An id for each ended connection, because several backends report it. */
export function goneHeaders(id: string): MsgHdrs {
  const result = newHeaders();
  result.set(idHeader, id);
  return result;
}

export function goneId(message: Msg): string {
  return headersOf(message)?.get(idHeader) ?? '';
}

/** NATS itself answers when there is no listener. */
export function saysNobodyListens(message: Msg): boolean {
  return message.data.byteLength === 0 && headersOf(message)?.code === 503;
}

/** Null when the client cannot decode the sender's headers: it decodes them on the first read. */
function headersOf(message: Msg): MsgHdrs | undefined | null {
  try {
    return message.headers;
  } catch {
    return null;
  }
}

function readHeaders(text: string): Headers | null {
  if (text === '') return {};
  if (text.length > headersTextMaxLength) return null;
  try {
    const headers: unknown = JSON.parse(text);
    return areHeaders(headers) ? headers : null;
  } catch {
    return null;
  }
}

export function textOf(payload: Uint8Array): string {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString();
}

function hasAny(headers: Headers): boolean {
  for (const _ in headers) return true;
  return false;
}

/** Frames of the largest payload. An empty frame counts, so that a sender cannot send an unlimited number. */
const framesMax = payloadMaxBytes / frameMaxBytes;

/** A payload whose frames are arriving. */
export class Assembly {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** The complete payload with its last frame, null before. Throws `too_large`. */
  take({ payload, more }: Frame): Uint8Array | null {
    if (!more && this.#parts.length === 0) return payload;
    this.#size += payload.byteLength;
    this.#parts.push(payload);
    if (this.#size > payloadMaxBytes || this.#parts.length > framesMax) {
      this.#parts = [];
      throw new SvcError(
        'too_large',
        `A message is above the limit of ${payloadMaxBytes} bytes or ${framesMax} frames.`,
      );
    }
    if (more) return null;
    const whole = this.#parts.length === 1 ? (this.#parts[0] ?? empty) : Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    return whole;
  }
}
