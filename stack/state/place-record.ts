import { realpathSync, statSync } from 'node:fs';
import { z } from 'zod';
import type { Installation } from './installation.ts';
import { stateFile } from './state-file.ts';

const placeRecord = z.object({
  /** As in svc.yaml at that time. */
  id: z.string(),
  /** Real path of the folder. */
  dir: z.string(),
  /** The folder on its file system: a renamed folder keeps both numbers, a copy gets others. */
  device: z.string(),
  inode: z.string(),
  /** Data of this installation in its folder, and since when. */
  data: z.array(z.object({ path: z.string(), since: z.string() })),
});
export type PlaceRecord = z.infer<typeof placeRecord>;
export type KeptData = PlaceRecord['data'][number];

/** `state/place.json`: the folder of this installation. A copy of the folder contains the original's record. */
const placeFile = stateFile('place.json', placeRecord);
export const readPlace = placeFile.read;

/** Records that the installation of this id is here. `data` replaces the recorded data. */
export function writePlace(installation: Installation, id: string, data?: readonly KeptData[]): void {
  const before = readPlace(installation);
  const record = { id, ...placeOf(installation), data: [...(data ?? before?.data ?? [])] };
  if (JSON.stringify(record) === JSON.stringify(before)) return;
  placeFile.write(installation, record);
}

/** Whether the records in state/ were written in this folder. */
export function isWrittenHere(installation: Installation): boolean {
  const place = readPlace(installation);
  if (place === null) return false;
  const { device, inode } = placeOf(installation);
  return place.device === device && place.inode === inode;
}

export function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

function placeOf({ dir }: Installation): Pick<PlaceRecord, 'dir' | 'device' | 'inode'> {
  const { dev, ino } = statSync(dir, { bigint: true });
  return { dir: realpathSync(dir), device: String(dev), inode: String(ino) };
}
