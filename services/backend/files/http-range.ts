import type { Range } from './blobs.ts';

/**
 * What a Range header asks of so many bytes (RFC 9110 §14): one range of them, `none` where nothing of what it asks is there, and `whole` for
 * everything that may be left unheard: other units, several ranges, and what is no range at all.
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
