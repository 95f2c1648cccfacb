import { findPortHolder } from '../../machine/port-holder.ts';
import { portOf } from '../../machine/port-of.ts';
import { listensAt } from '../../parts/part.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import { partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import type { RunningPlatform } from '../../state/find-running.ts';
import { endLeftProcesses, leftProcesses } from '../../state/left-processes.ts';
import { type PlatformRecord, readRecord, type ServiceRecord } from '../../state/platform-record.ts';
import { isAlive } from '../../state/process-identity.ts';
import type { PartNames } from '../engine.ts';
import { runningProcess, watchProcess } from './part-process.ts';
import type { RunningPart } from './part-runner.ts';
import type { Patience } from './patience.ts';
import { logOf } from './process-plan.ts';

/** What an earlier supervisor of this installation left running. */
export interface LeftParts {
  /** Its record. Null where it left no part. */
  readonly record: PlatformRecord | null;
  readonly parts: readonly LeftPart[];
}

export interface LeftPart {
  readonly name: string;
  readonly running: RunningPart;
  /** `stays`, `restarts`: it runs as planned. `gives_way`: it must end before other parts start. */
  readonly next: 'stays' | 'restarts' | 'is_replaced' | 'gives_way';
}

/** Finds the parts that this plan takes over. Ends all of them where a change concerns the whole platform. */
export async function takeOver(plan: Plan, restart: PartNames, patience: Patience): Promise<LeftParts> {
  const { installation } = plan;
  const record = readRecord(installation);
  if (record === null) return nothingLeft;
  const differ = partsThatDiffer(record.settings, settingsOf(plan));
  if (differ === null) await endLeftProcesses(leftProcesses(record));
  const left = record.services.flatMap(({ process, ...service }) => {
    return process !== null && isAlive(process) ? [{ ...service, process }] : [];
  });
  if (differ === null || left.length === 0) return nothingLeft;
  const inTheWay = partsInTheWay(left, plan);
  const nextOf = (name: string): LeftPart['next'] => {
    if (inTheWay.has(name)) return 'gives_way';
    if (differ.has(name) || describeNodeLoss(installation, name) !== null) return 'is_replaced';
    return restart.has(name) ? 'restarts' : 'stays';
  };
  const parts = left.map(({ name, process, ready }) => {
    const ended = watchProcess(process, logOf(installation, name));
    return { name, running: runningProcess(process, { ready, ended }, patience), next: nextOf(name) };
  });
  return { record, parts };
}

const nothingLeft: LeftParts = { record: null, parts: [] };

/** Parts that the plan no longer has, and parts on a port of another planned part. */
function partsInTheWay(left: readonly ServiceRecord[], { parts }: Plan): ReadonlySet<string> {
  const names = new Set(parts.map(({ name }) => name));
  const unplanned = left.map(({ name }) => name).filter((name) => !names.has(name));
  const holders = parts.flatMap((part) => {
    const found = listensAt(part).map((address) => findOnPort(left, portOf(address))?.name ?? part.name);
    return found.filter((name) => name !== part.name);
  });
  return new Set([...unplanned, ...holders]);
}

export function hasPort({ pid, record }: RunningPlatform, port: number): boolean {
  if (record === null) return findPortHolder(port)?.pid === pid;
  return findOnPort(record.services, port) !== null;
}

function findOnPort(services: readonly ServiceRecord[], port: number): ServiceRecord | null {
  const known = services.find(({ url, ready }) => [url, ready.url].some((one) => portOf(one) === port));
  if (known !== undefined) return known;
  // A part may listen on more ports than its record lists.
  const holder = findPortHolder(port)?.pid;
  return services.find(({ process }) => process !== null && process.pid === holder) ?? null;
}
