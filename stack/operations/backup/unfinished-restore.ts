import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { endLeftProcesses, type LeftProcess } from '../../state/left-processes.ts';
import { isAlive, processIdentity } from '../../state/process-identity.ts';

/** `state/restoring.json`: the processes that a restore has started. */
const started = z.object({ processes: z.array(z.object({ name: z.string(), process: processIdentity })) });

/** Where a restore fills data that nothing refers to yet. */
export function draftOf({ dataDir }: Installation): string {
  return join(dataDir, 'restoring');
}

/** Notes each process of a restore before it runs, so that a later command can end it. */
export function noteProcess(installation: Installation): (process: LeftProcess) => void {
  const processes: LeftProcess[] = [];
  return (process) => {
    processes.push(process);
    writeDurably(recordIn(installation), JSON.stringify({ processes }));
  };
}

/** Ends the processes of a restore that was killed and removes its draft. Called by a command that has the lock. */
export async function settleRestore(installation: Installation): Promise<void> {
  const { processes = [] } = started.safeParse(readJson(recordIn(installation))).data ?? {};
  await endLeftProcesses(processes.filter(({ process }) => isAlive(process)));
  rmSync(draftOf(installation), { recursive: true, force: true });
  rmSync(recordIn(installation), { force: true });
}

function recordIn({ stateDir }: Installation): string {
  return join(stateDir, 'restoring.json');
}
