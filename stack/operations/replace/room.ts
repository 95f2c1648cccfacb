import { SvcError } from '../../../services/contracts/errors.ts';
import type { Disk } from '../../engines/places.ts';
import { sizeText } from '../../machine/size-text.ts';

/** Throws if the disk has too little room: the data before is kept beside the new data. */
export function refuseWithoutRoom({ place, repair, freeBytes }: Disk, neededBytes: number, what: string): void {
  if (freeBytes === null || freeBytes >= neededBytes) return;
  throw new SvcError(
    'unavailable',
    `${place} has ${sizeText(freeBytes)} left, and ${what} needs ${sizeText(neededBytes)}: the data before is kept.`,
    { hint: `Free some space there and try again: ${repair}` },
  );
}
