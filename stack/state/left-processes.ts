import { z } from 'zod';
import { endGroup } from './end-process.ts';
import type { Installation } from './installation.ts';
import type { PlatformRecord } from './platform-record.ts';
import { isAlive, processIdentity } from './process-identity.ts';
import { stateFile } from './state-file.ts';

/** A process that still runs after its platform has ended, and the name of its part. */
const leftProcess = z.object({ name: z.string(), process: processIdentity });
export type LeftProcess = z.infer<typeof leftProcess>;

export function leftProcesses({ services }: PlatformRecord): readonly LeftProcess[] {
  return services.flatMap(({ name, process }) => (process !== null && isAlive(process) ? [{ name, process }] : []));
}

/** Short, because without a platform only work that is nearly done is worth waiting for. */
const graceMs = 3_000;
/** Dependent parts end first. */
const endOrder = [/^remote-mcp/, /^(runtime|frontend)/, /^backend/, /./];

/** Ends them as their platform would have done; returns their names. */
export async function endLeftProcesses(left: readonly LeftProcess[]): Promise<readonly string[]> {
  for (const names of endOrder) {
    const next = left.filter(({ name }) => names.test(name));
    await Promise.all(next.map(({ process }) => endGroup(process, graceMs)));
  }
  return left.map(({ name }) => name);
}

/** `state/alone.json`: nodes of the bus and the graph that run without the rest of the platform. */
const aloneFile = stateFile('alone.json', z.array(leftProcess));

export function readAlone(installation: Installation): readonly LeftProcess[] {
  return aloneFile.read(installation) ?? [];
}

/** Recorded before the node runs, so that a later command can end it. */
export function recordAlone(installation: Installation, node: LeftProcess): void {
  aloneFile.write(installation, [...readAlone(installation), node]);
}

/** Ends the nodes that a killed command left running. */
export async function endAlone(installation: Installation): Promise<void> {
  await endLeftProcesses(readAlone(installation).filter(({ process }) => isAlive(process)));
  aloneFile.remove(installation);
}
