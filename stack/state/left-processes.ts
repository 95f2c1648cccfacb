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
/** Parts that need others end first. The front ends after the parts whose calls end through it. */
const endOrder = [/^remote-mcp/, /^caddy/, /^(runtime|frontend)/, /^backend/, /^dgraph-alpha/, /./];

/** Ends parts turn by turn, those of one turn together. */
export async function endInOrder<Part>(
  parts: readonly Part[],
  nameOf: (part: Part) => string,
  end: (part: Part) => Promise<void>,
): Promise<void> {
  const byTurn = Map.groupBy(parts, (part) => endOrder.findIndex((names) => names.test(nameOf(part))));
  for (const turn of endOrder.keys()) await Promise.all((byTurn.get(turn) ?? []).map(end));
}

/** Ends them as their platform would have done; returns their names. */
export async function endLeftProcesses(left: readonly LeftProcess[]): Promise<readonly string[]> {
  await endInOrder(
    left,
    ({ name }) => name,
    ({ process }) => endGroup(process, graceMs),
  );
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
