import { lossOf } from '../../place/loss-of.ts';
import { partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { endLeftProcesses, leftProcesses } from '../../state/left-processes.ts';
import { type PlatformRecord, readRecord, type ServiceRecord } from '../../state/platform-record.ts';

/** What a platform that was killed left running, by name: it goes on as a part of the next one. */
export type TakenOver = ReadonlyMap<string, ServiceRecord>;

/** Keeps what runs as the plan says and ends the rest, before the record that knows of both is replaced. */
export async function takeOver(plan: Plan): Promise<TakenOver> {
  const record = readRecord(plan.installation);
  if (record === null) return new Map();
  const left = leftProcesses(record);
  const lost = plan.parts.map(({ name }) => name).filter((name) => lossOf(plan.installation, name) !== null);
  const kept = keepable(record, plan).difference(new Set(lost));
  await endLeftProcesses(left.filter(({ name }) => !kept.has(name)));
  const names = new Set(left.map(({ name }) => name).filter((name) => kept.has(name)));
  const services = record.services.filter(({ name }) => names.has(name));
  // Whether it is well is still to be seen.
  return new Map(services.map((service) => [service.name, { ...service, state: 'planned' }]));
}

/** Parts that would be started the same way again. */
export function keepable(record: Pick<PlatformRecord, 'topology' | 'settings'>, plan: Plan): ReadonlySet<string> {
  if (record.topology !== 'distributed' || plan.definition.topology !== 'distributed') return new Set();
  const differ = partsThatDiffer(record.settings, settingsOf(plan));
  if (differ === null) return new Set();
  return new Set(plan.parts.map(({ name }) => name).filter((name) => !differ.has(name)));
}
