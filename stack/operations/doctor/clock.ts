import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { clockWrongMs, setClock } from '../../../services/contracts/clocks.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { findProgram } from '../../machine/find-program.ts';
import { type Examined, type Found, failed, ok, warning } from './finding.ts';

const askTimeoutMs = 3000;

/** A wrong clock makes tokens expire early and certificates invalid. */
export async function checkClock({ installation, env }: Examined): Promise<readonly Found[]> {
  const aheadMs = newestChange(installation.stateDir) - Date.now();
  if (aheadMs > clockWrongMs) {
    const minutes = Math.round(aheadMs / 60_000);
    return [failed(`The clock was set back: files of the platform are ${minutes} minutes newer than it.`, setClock)];
  }
  const synchronized = await isSynchronized(env);
  if (synchronized === false) return [warning('No time server sets the clock of this machine.', setClock)];
  const source = synchronized === true ? ', and a time server sets it' : '';
  return [ok(`${new Date().toISOString()}${source}`)];
}

function newestChange(dir: string): number {
  try {
    return Math.max(0, ...readdirSync(dir).map((name) => statSync(join(dir, name)).mtimeMs));
  } catch {
    return 0; // Nothing has run here.
  }
}

/** Null where systemd does not know. */
async function isSynchronized({ PATH }: Examined['env']): Promise<boolean | null> {
  const program = findProgram('timedatectl', PATH);
  if (program === null) return null;
  const asked = ['show', '--property=NTPSynchronized', '--value'];
  const { failed: isUnknown, stdout } = await askProgram(program, asked, { timeoutMs: askTimeoutMs });
  return isUnknown ? null : stdout.trim() === 'yes';
}
