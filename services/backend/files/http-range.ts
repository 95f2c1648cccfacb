import type { Range } from './blobs.ts';

/**
 * Evaluates a Range header (RFC 9110 §14) of one range. `none`: the range is outside of the file. `whole`: the header
 * may be ignored, for other units, several ranges or malformed ranges.
 */
export function readRange(header: string | undefined, sizeBytes: number): Range | 'whole' | 'none' {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'none' : { start: sizeBytes - length, end: sizeBytes };
  }
  const start = Number(first);
  const end = last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  if (last !== '' && Number(last) < start) return 'whole';
  return start < sizeBytes ? { start, end } : 'none';
}
