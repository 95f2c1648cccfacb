import { readdirSync, type StatsFs, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { sizeText } from '../machine/size-text.ts';
import type { Installation } from './installation.ts';

/** A start writes its records, the shared memory of a database and its first log lines: 100 KB at most, measured. */
const startBytes = 256 * 1024;

/** Throws `unavailable`, naming the folder, when a platform has no space to start. */
export function refuseFullDisk(installation: Installation): void {
  const full = findFullDisk(installation);
  if (full !== null) throw full;
}

/** The error about the first folder with a full disk, or null: each may be on its own disk. */
export function findFullDisk({ stateDir, dataDir, logsDir }: Installation): SvcError | null {
  for (const dir of [stateDir, dataDir, ...foldersIn(dataDir), logsDir]) {
    const full = diskFullError(diskOf(dir));
    if (full !== null) return full;
  }
  return null;
}

/** Folders of the parts with data: the bus and the graph have one each. */
function foldersIn(dir: string): readonly string[] {
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(dir, name)).sort();
}

/** The message about it without a start; null when there is space, or a folder cannot be checked. */
export function describeFullDisk(installation: Installation): string | null {
  try {
    return findFullDisk(installation)?.message ?? null;
  } catch {
    return null;
  }
}

type FileSystem = Pick<StatsFs, 'blocks' | 'bsize' | 'bfree' | 'bavail'>;

/** Some blocks are reserved for root. A file system without a limit reports no blocks at all: null. */
export function bytesLeft({ blocks, bsize, bfree, bavail }: FileSystem, isRoot: boolean): number | null {
  return blocks === 0 ? null : (isRoot ? bfree : bavail) * bsize;
}

export function diskOf(dir: string): Disk {
  const freeBytes = bytesLeft(statfsSync(dir), process.getuid?.() === 0);
  return { place: `"${dir}"`, repair: `df -h "${dir}" tells how much there is.`, freeBytes };
}

export interface Disk {
  readonly place: string;
  readonly repair: string;
  readonly freeBytes: number | null;
}

/** Throws `unavailable` if a disk has too little room for this work. */
export function refuseWithoutRoom(disk: Disk, neededBytes: number, work: string): void {
  const lack = lackOfRoom(disk, neededBytes, work);
  if (lack !== null) throw lack;
}

/** The error about a disk without room for a start; null when there is enough. */
export function diskFullError(disk: Disk): SvcError | null {
  return lackOfRoom({ ...disk, place: `The disk is full: ${disk.place}` }, startBytes, 'a start');
}

function lackOfRoom({ place, repair, freeBytes }: Disk, neededBytes: number, work: string): SvcError | null {
  if (freeBytes === null || freeBytes >= neededBytes) return null;
  const message = `${place} has ${sizeText(freeBytes)} left, and ${work} needs up to ${sizeText(neededBytes)}.`;
  return new SvcError('unavailable', message, { hint: `Free some space there and try again: ${repair}` });
}
