import { describeNodeLoss } from '../../place/kept-data.ts';
import { partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { endLeftProcesses, leftProcesses } from '../../state/left-processes.ts';
import { type PlatformRecord, readRecord, type ServiceRecord } from '../../state/platform-record.ts';

/** Parts that a killed platform left running, by name. The next platform keeps them. */
export type TakenOver = ReadonlyMap<string, ServiceRecord>;

/** Keeps the parts that run as planned and ends the others, before the next record replaces the one that names them. */
export async function takeOver(plan: Plan): Promise<TakenOver> {
  const record = readRecord(plan.installation);
  if (record === null) return new Map();
  const left = leftProcesses(record);
  const lost = plan.parts.map(({ name }) => name).filter((name) => describeNodeLoss(plan.installation, name) !== null);
  const kept = keepable(record, plan).difference(new Set(lost));
  await endLeftProcesses(left.filter(({ name }) => !kept.has(name)));
  const names = new Set(left.map(({ name }) => name).filter((name) => kept.has(name)));
  const services = record.services.filter(({ name }) => names.has(name));
  // The supervisor has yet to ask whether the part is well.
  return new Map(services.map((service) => [service.name, { ...service, state: 'planned' }]));
}

/** Parts that would start in the same way again. */
export function keepable(record: Pick<PlatformRecord, 'topology' | 'settings'>, plan: Plan): ReadonlySet<string> {
  if (record.topology !== 'distributed' || plan.definition.topology !== 'distributed') return new Set();
  const differ = partsThatDiffer(record.settings, settingsOf(plan));
  if (differ === null) return new Set();
  return new Set(plan.parts.map(({ name }) => name).filter((name) => !differ.has(name)));
}
