import { realpathSync } from 'node:fs';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { readDefinition } from '../settings/check.ts';
import { refuseCopy } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { isSameFolder, readPlace, writePlace } from '../state/place-record.ts';
import { stateFile } from '../state/state-file.ts';

/** Refuses a copy and data of another installation. Returns the id in svc.yaml. */
export function checkPlace(installation: Installation): string {
  refuseCopy(installation);
  const { id, name } = readDefinition(installation.definitionFile);
  const recorded = readPlace(installation)?.id ?? id;
  if (recorded !== id) {
    throw new SvcError('conflict', `svc.yaml has the id "${id}", but state/ was written for the id "${recorded}".`, {
      hint: `Set id: ${recorded} in svc.yaml. If the folder is a copy, give it its own id: svc up --as-copy`,
    });
  }
  const owner = markerFile.read(installation);
  if (owner !== null && owner.id !== id) {
    throw new SvcError(
      'conflict',
      `"${installation.dataDir}" holds the data of the installation ${owner.name} (id ${owner.id}), and this one is ${name} (id ${id}).`,
      { hint: 'Mount or restore the data of this installation there. If the folder is a copy: svc up --as-copy' },
    );
  }
  return id;
}

/** Checks the place of an installation, and records it. Called by a command that has the lock. */
export function settlePlace(installation: Installation, onNotice: (message: string) => void): void {
  const id = checkPlace(installation);
  const place = readPlace(installation);
  const here = realpathSync(installation.dir);
  if (place !== null && place.dir !== here && !isSameFolder(place.dir, here)) {
    onNotice(`The folder was moved here from "${place.dir}".`);
  }
  writePlace(installation, id);
}

const marker = z.object({ id: z.string(), name: z.string() });

/** `data/installation.json` records the owner of the data, to detect a disk that is mounted in the wrong place. */
const markerFile = stateFile('installation.json', marker, { folder: 'dataDir' });

export function markData(installation: Installation, { id, name }: z.infer<typeof marker>): void {
  const before = markerFile.read(installation);
  if (before?.id !== id || before.name !== name) markerFile.write(installation, { id, name });
}
