import { SvcError } from '../../contracts/errors.ts';
import { type Headers, headersMaxLength, payloadMaxBytes } from './bus.ts';

const noHeaders: Headers = Object.freeze({});

/** Copies the payload for the receiver, so that later changes by the sender have no effect. */
export function copyPayload(payload: Uint8Array): Uint8Array {
  if (payload.byteLength > payloadMaxBytes) {
    throw new SvcError(
      'too_large',
      `A message of ${payload.byteLength} bytes is above the limit of ${payloadMaxBytes}.`,
    );
  }
  const copy = Buffer.allocUnsafe(payload.byteLength);
  copy.set(payload);
  return copy;
}

/** Copies the headers for the receiver. Every engine keeps values to one line. */
export function copyHeaders(headers: Headers | undefined): Headers {
  if (headers === undefined) return noHeaders;
  const copy = { ...headers };
  let length = 0;
  for (const name in copy) {
    const value = copy[name];
    if (typeof value !== 'string' || value.includes('\n') || value.includes('\r')) {
      throw new SvcError('invalid_input', `The header "${name.slice(0, 60)}" must be a text of one line.`);
    }
    length += name.length + value.length;
  }
  if (length > headersMaxLength) {
    throw new SvcError('too_large', `Headers of ${length} characters are above the limit of ${headersMaxLength}.`);
  }
  return copy;
}

/** Whether a sender's headers keep the rules of `copyHeaders`. */
export function areHeaders(value: unknown): value is Headers {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  let length = 0;
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string' || text.includes('\n') || text.includes('\r')) return false;
    length += name.length + text.length;
  }
  return length <= headersMaxLength;
}
