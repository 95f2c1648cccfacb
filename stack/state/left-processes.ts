import { endGroup } from './end-process.ts';
import type { PlatformRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

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
