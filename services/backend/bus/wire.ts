import type { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';

/** The body of a bus message: JSON text. */
export function toBody(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * Throws `too_large` before it parses a body above `maxBytes`. Throws `invalid_input` with the name of the first wrong
 * field; its value may be a secret and is not repeated.
 */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: Uint8Array,
  maxBytes: number,
): z.output<Schema> {
  if (body.byteLength > maxBytes) {
    throw new SvcError('too_large', `The message of ${body.byteLength} bytes is above the limit of ${maxBytes}.`);
  }
  const parsed = schema.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new SvcError('invalid_input', `The message is malformed${field === '' ? '' : ` at "${field}"`}.`);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
