import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Definition } from '../settings/definition.ts';
import { readJson, writeDurably } from '../state/durable-file.ts';
import type { Installation } from '../state/installation.ts';

type Owner = Pick<Definition, 'id' | 'name'>;
const marker = z.object({ id: z.string(), name: z.string() });

/** `data/installation.json` records the owner of the data, to detect a disk that is mounted in the wrong place. */
export function markData({ dataDir }: Installation, { id, name }: Owner): void {
  const before = marker.safeParse(readJson(markerFile(dataDir))).data;
  if (before?.id === id && before.name === name) return;
  writeDurably(markerFile(dataDir), JSON.stringify({ id, name }));
}

export function refuseForeignData(installation: Installation, { id, name }: Owner): void {
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
