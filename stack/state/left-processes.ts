import { endGroup } from './end-process.ts';
import type { PlatformRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** A process that goes on although the platform that started it is gone. */
export interface LeftProcess {
  /** The part that it is. */
  readonly name: string;
  readonly process: ProcessIdentity;
}

export function leftProcesses({ services }: PlatformRecord): readonly LeftProcess[] {
  return services.flatMap(({ name, process }) => (process !== null && isAlive(process) ? [{ name, process }] : []));
}

/** Nobody goes on with what is under way, so only what is nearly done is worth waiting for. */
const graceMs = 3_000;
/** Whoever needs others ends first. */
const endOrder = [/^remote-mcp/, /^(runtime|frontend)/, /^backend/, /./];

/** Ends them as their platform would have done; returns their names. */
export async function endLeftProcesses(left: readonly LeftProcess[]): Promise<readonly string[]> {
  for (const names of endOrder) {
    const next = left.filter(({ name }) => names.test(name));
    await Promise.all(next.map(({ process }) => endGroup(process, graceMs)));
  }
  return left.map(({ name }) => name);
}
