import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { draftEnding } from './durable-file.ts';
import { startTimeOf } from './process-identity.ts';

/** Removes what killed processes had begun to write: a draft may hold a secret that nobody will ever use. */
export function removeLeftDrafts(dir: string): void {
  for (const name of readdirSync(dir)) {
    const pid = draftEnding.exec(name)?.[1];
    if (pid !== undefined && startTimeOf(Number(pid)) === null) rmSync(join(dir, name), { force: true });
  }
}
