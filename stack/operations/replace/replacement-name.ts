import type { Replacement } from './replacement.ts';
import { isSameSide, sideName } from './side.ts';

/** A replacement at the beginning of a sentence. */
export function replacementName({ command, from, to }: Replacement): string {
  return command === 'restore' || isSameSide(from, to)
    ? 'The restore'
    : `The move from ${sideName(from)} to ${sideName(to)}`;
}
