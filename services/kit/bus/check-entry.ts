import { SvcError } from '../../contracts/errors.ts';
import { frameMaxBytes } from './bus.ts';

const keyMaxLength = 255;
/** Keys that every engine can represent. */
const keyShape = /^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$/;

/** Copies a value for the bucket, after checking that every engine can represent its key. */
export function checkedValue(key: string, value: Uint8Array): Uint8Array {
  checkedKey(key);
  return checkedRecord(value, 'A value');
}

export function checkedRecord(payload: Uint8Array, what: string): Uint8Array {
  if (payload.byteLength > frameMaxBytes) {
    throw new SvcError('too_large', `${what} of ${payload.byteLength} bytes is above the limit of ${frameMaxBytes}.`);
  }
  return Buffer.from(payload);
}

export function checkedKey(key: string): string {
  if (key.length <= keyMaxLength && keyShape.test(key)) return key;
  throw new SvcError(
    'invalid_input',
    `"${key.slice(0, 60)}" is not a key: it must be letters, digits, - / _ = and single dots between them.`,
  );
}
