import type { SQLOutputValue } from 'node:sqlite';

export function bytesOf(value: SQLOutputValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error('A column of bytes holds something else.');
}
