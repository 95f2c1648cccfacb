import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import { refuseCopy } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { isSameFolder, readPlace, writePlace } from '../state/place-record.ts';

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

type Owner = Pick<Definition, 'id' | 'name'>;
const marker = z.object({ id: z.string(), name: z.string() });

/** `data/installation.json` records the owner of the data, to detect a disk that is mounted in the wrong place. */
export function markData({ dataDir }: Installation, { id, name }: Owner): void {
  const before = marker.safeParse(readJson(markerFile(dataDir))).data;
  if (before?.id === id && before.name === name) return;
  writeDurably(markerFile(dataDir), JSON.stringify({ id, name }));
}

function refuseForeignData(installation: Installation, { id, name }: Owner): void {
  const found = marker.safeParse(readJson(markerFile(installation.dataDir))).data;
  if (found === undefined || found.id === id) return;
  throw new SvcError(
    'conflict',
    `"${installation.dataDir}" holds the data of the installation ${found.name} (id ${found.id}), and this one is ${name} (id ${id}).`,
    {
      hint: 'Mount or restore the data of this installation there. If the folder is a copy: svc up --as-copy',
    },
  );
}

function markerFile(dataDir: string): string {
  return join(dataDir, 'installation.json');
}
