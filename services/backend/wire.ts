import type { z } from 'zod';
import { SvcError } from '../contracts/errors.ts';

/** A message's body as it goes over the bus: JSON text. */
export function toBody(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Throws `invalid_input` and names the first field that is wrong; its value may be a secret and is not repeated. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: Uint8Array): z.output<Schema> {
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
