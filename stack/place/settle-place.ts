import { realpathSync } from 'node:fs';
import { SvcError } from '../../services/contracts/errors.ts';
import { readDefinition } from '../settings/check.ts';
import { refuseCopy } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { isSameFolder, readPlace, writePlace } from '../state/place-record.ts';
import { refuseForeignData } from './data-marker.ts';

/** Refuses a copy and data of another installation. */
export function checkPlace(installation: Installation): void {
  refuseCopy(installation);
  const { id, name } = readDefinition(installation.definitionFile);
  const place = readPlace(installation);
  if (place !== null && place.id !== id) throw otherId(place.id, id);
  refuseForeignData(installation, { id, name });
}

/** Checks the place of an installation, and records it. Called by a command that has the lock. */
export function settlePlace(installation: Installation, onNotice: (message: string) => void): void {
  checkPlace(installation);
  const definition = readDefinition(installation.definitionFile);
  const place = readPlace(installation);
  const here = realpathSync(installation.dir);
  if (place !== null && place.dir !== here && !isSameFolder(place.dir, here)) {
    onNotice(`The folder was moved here from "${place.dir}".`);
  }
  writePlace(installation, definition.id);
}

function otherId(recorded: string, said: string): SvcError {
  return new SvcError('conflict', `svc.yaml has the id "${said}", but state/ was written for the id "${recorded}".`, {
    hint: `Set id: ${recorded} in svc.yaml. If the folder is a copy, give it its own id: svc up --as-copy`,
  });
}
