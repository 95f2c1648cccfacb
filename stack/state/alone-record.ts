import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from './durable-file.ts';
import type { Installation } from './installation.ts';
import { endLeftProcesses, type LeftProcess } from './left-processes.ts';
import { isAlive, processIdentity } from './process-identity.ts';

const record = z.array(z.object({ name: z.string(), process: processIdentity }));

/** `state/alone.json`: nodes of the bus and the graph that run without the rest of the platform. */
export function readAlone({ stateDir }: Installation): readonly LeftProcess[] {
  return record.safeParse(readJson(fileIn(stateDir))).data ?? [];
}

/** Recorded before the node runs, so that a later command can end it. */
export function recordAlone(installation: Installation, node: LeftProcess): void {
  writeDurably(fileIn(installation.stateDir), JSON.stringify([...readAlone(installation), node]));
}

/** Ends the nodes that a killed command left running. */
export async function endAlone(installation: Installation): Promise<void> {
  await endLeftProcesses(readAlone(installation).filter(({ process }) => isAlive(process)));
  rmSync(fileIn(installation.stateDir), { force: true });
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'alone.json');
}
