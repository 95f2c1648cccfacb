import { constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { beginningOf } from '../machine/bounded-file.ts';
import { isPartOf, serves } from './find-running.ts';
import type { Installation } from './installation.ts';
import { leftProcesses } from './left-processes.ts';
import { isSameFolder, isWrittenHere, readPlace } from './place-record.ts';
import { readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity, workingDirOf } from './process-identity.ts';

export interface Original {
  /** Its folder; null when only its process is known. */
  readonly dir: string | null;
  /** One of its running processes, as the copied records name it. */
  readonly pid: number | null;
}

/**
 * The installation that this folder is a copy of, or null. A folder whose recorded path no longer exists was moved and
 * is not a copy, unless a process of its records still serves another folder.
 */
export function findOriginal(installation: Installation): Original | null {
  const place = readPlace(installation);
  const elsewhere = place === null || place.dir === realpathSync(installation.dir) ? null : place.dir;
  const stranger = findStranger(installation);
  if (stranger !== null) return { dir: elsewhere ?? workingDirOf(stranger.pid), pid: stranger.pid };
  if (place === null || elsewhere === null || isWrittenHere(installation)) return null;
  return isOtherPlaceOf(place.id, elsewhere, installation) ? { dir: elsewhere, pid: null } : null;
}

/** Whether that folder is another one than the installation's and contains an installation with this id. */
export function isOtherPlaceOf(id: string, dir: string, installation: Installation): boolean {
  return readId(dir) === id && !isSameFolder(dir, installation.dir);
}

/** Throws `conflict` when the folder is a copy: its records belong to the original. */
export function refuseCopy(installation: Installation): void {
  const original = findOriginal(installation);
  if (original !== null) throw copyOf(original, installation);
}

/** The original as `svc status` shows it. */
export function nameOfOriginal(original: Original | null): string | null {
  return original === null ? null : (original.dir ?? `process ${original.pid}`);
}

export function copyOf({ dir, pid }: Original, installation: Installation): SvcError {
  const running = pid === null ? '' : `, which runs (pid ${pid})`;
  const what = dir === null ? `another installation${running}` : `the installation in "${dir}"${running}`;
  const end =
    dir === null ? `stop process ${pid}` : `stop the original (svc down --dir ${dir}) and rename or remove its folder`;
  return new SvcError('conflict', `"${installation.dir}" is a copy of ${what}, and both have the same id.`, {
    hint: `To run it beside the original, with its own id, keys and ports: svc up --as-copy --dir ${installation.dir}\nTo let it take the original's place: ${end}.`,
  });
}

/** A recorded process that runs and serves another folder. */
function findStranger(installation: Installation): ProcessIdentity | null {
  const record = readRecord(installation);
  if (record === null) return null;
  if (isAlive(record)) return serves(installation, record) ? null : record;
  const left = leftProcesses(record).find(({ process }) => !isPartOf(installation, process));
  return left?.process ?? null;
}

/** The id is near the beginning of svc.yaml. */
const readMaxBytes = 64 * 1024;

/** The id in the svc.yaml of a folder, or null. The rest of the file may be wrong. Links of another user are not followed. */
export function readId(dir: string): string | null {
  const text = beginningOf(join(dir, 'svc.yaml'), readMaxBytes, constants.O_NOFOLLOW);
  return /^id:\s*["']?([a-z0-9]{8,32})["']?\s*(#.*)?$/m.exec(text)?.[1] ?? null;
}
