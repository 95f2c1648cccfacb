import { existsSync } from 'node:fs';
import { sizeText } from '../../machine/size-text.ts';
import { diskOf, findFullDisk } from '../../state/free-space.ts';
import { type Examined, type Found, failed, ok, warning } from './finding.ts';

/** Logs and the streams of the bus are bounded below this. */
const comfortableBytes = 1024 ** 3;

export async function checkDisk({ installation }: Examined): Promise<readonly Found[]> {
  const full = existsSync(installation.dataDir) ? findFullDisk(installation) : null;
  if (full !== null) return [failed(full.message, full.hint ?? '')];
  const { freeBytes } = diskOf(installation.dir);
  if (freeBytes === null) return [ok('The file system has no limit.')];
  const left = `${sizeText(freeBytes)} are free for "${installation.dir}".`;
  return freeBytes >= comfortableBytes ? [ok(left)] : [warning(left, `Free some space: df -h "${installation.dir}"`)];
}
