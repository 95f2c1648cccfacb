import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { draftEnding } from './durable-file.ts';
import { startTimeOf } from './process-identity.ts';

/** Removes unfinished files of killed processes: a draft may hold a secret that is never used. */
export function removeLeftDrafts(dir: string): void {
  for (const name of readdirSync(dir)) {
    const pid = draftEnding.exec(name)?.[1];
    if (pid !== undefined && startTimeOf(Number(pid)) === null) rmSync(join(dir, name), { force: true });
  }
}
