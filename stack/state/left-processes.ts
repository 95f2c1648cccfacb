import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from './durable-file.ts';
import { endGroup } from './end-process.ts';
import type { Installation } from './installation.ts';
import type { PlatformRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** A process that still runs after its platform has ended. */
export interface LeftProcess {
  /** The name of its part. */
  readonly name: string;
  readonly process: ProcessIdentity;
}

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
