import { type PartState, type Status, stateOfPlan, statusOf, stoppedPart } from '../../lifecycle/platform-status.ts';
import { readReadiness } from '../../lifecycle/readiness.ts';
import { ownVersion } from '../../machine/version.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { findOriginal } from '../../state/find-original.ts';
import { findRunning } from '../../state/find-running.ts';
import { isSilent } from '../../state/heartbeat.ts';
import { type PartEnd, type PlatformRecord, readFailure, type ServiceRecord } from '../../state/platform-record.ts';
import { memoryOf } from '../../state/process-identity.ts';
import { type ServiceState, transition } from '../../state/transition.ts';
import type { Inspection } from '../engine.ts';
import { findUnwantedEnd } from './failure.ts';

export async function statusOfProcesses({ installation, readPlan, signal }: Inspection): Promise<Status> {
  // A copy has only the records of its original.
  const isCopy = findOriginal(installation) !== null;
  const running = isCopy ? null : findRunning(installation);
  if (running === null) return stoppedStatus(readPlan(), isCopy);
  const { pid, record, isAbandoned } = running;
  if (record === null) return unrecordedStatus(readPlan(), pid);
  const { topology, version, urls, settings, services } = record;
  // A supervisor of another version may not touch its record.
  const isSilentNow = async () => version === ownVersion() && (await isSilent(installation, signal));
  const stateOf = async () => (isAbandoned ? 'gone' : (await isSilentNow()) ? 'silent' : 'running');
  return statusOf({
    ...{ installation, isUp: true, engine: 'process', topology, version, urls, settings, signal },
    parts: await Promise.all(services.map((service) => probe(service, record, { installation, signal }))),
    supervisor: topology === 'embedded' ? null : { pid, state: await stateOf() },
    ended: isAbandoned ? await findUnwantedEnd(installation) : null,
  });
}

async function stoppedStatus(plan: Plan, isCopy: boolean): Promise<Status> {
  const { installation } = plan;
  const [ended, failure] = isCopy ? [null, null] : [await findUnwantedEnd(installation), readFailure(installation)];
  const reasonOf = (name: string) => {
    if (isCopy) return null;
    const isFailed = failure?.service === name || failure?.service === 'platform';
    return describeNodeLoss(installation, name) ?? (isFailed ? failure.message : null);
  };
  const parts = plan.parts.map((part) => {
    return { ...stoppedPart(part), since: ended?.at ?? null, reason: reasonOf(part.name), pid: null };
  });
  return statusOf({ ...stateOfPlan(plan), isUp: false, parts, ended });
}

/** The status of a platform that runs, without a record that says how. */
async function unrecordedStatus(plan: Plan, pid: number): Promise<Status> {
  const reason =
    'Its process runs, but state/ does not say how: it is starting, or the file was lost. svc up repairs that.';
  const known = { state: 'starting', url: null, reason, pid, memoryBytes: memoryOf(pid) } as const;
  const parts = plan.parts.map((part) => ({ ...stoppedPart(part), ...known }));
  return statusOf({ ...stateOfPlan(plan), isUp: true, parts });
}

/** The state in the record, corrected by the data on disk and by the answer of the service. */
async function probe(
  { name, state: recorded, since, url, ready, process, endCount: restarts, lastEnds: ends }: ServiceRecord,
  { pid: platform, topology }: PlatformRecord,
  { installation, signal }: Pick<Inspection, 'installation' | 'signal'>,
): Promise<PartState> {
  const pid = topology === 'embedded' ? platform : (process?.pid ?? null);
  const known = { name, url, pid, memoryBytes: pid === null ? null : memoryOf(pid), since, restarts, ends };
  // A node whose data is gone counts as lost, even while its process runs on with deleted files open.
  const loss = describeNodeLoss(installation, name);
  if (loss !== null) return { ...known, state: 'lost', reason: loss };
  if (!mayBeReady.has(recorded)) return { ...known, state: recorded, reason: whyNot(recorded, ends) };
  const readiness = await readReadiness(ready, signal);
  const state = transition(recorded, readiness.ready ? 'ready' : 'not_ready');
  return {
    ...known,
    state,
    since: state === recorded ? since : new Date().toISOString(),
    reason: readiness.ready ? null : readiness.missing,
  };
}

const mayBeReady: ReadonlySet<ServiceState> = new Set(['starting', 'healthy', 'unhealthy']);

function whyNot(state: ServiceState, ends: readonly PartEnd[]): string | null {
  const last = ends.at(-1);
  const why = last === undefined ? '' : `: it ${last.reason}`;
  if (state === 'failed') return `Not restarted until the next svc up${why}.`;
  if (state === 'restarting') return `Restarting${why}.`;
  return state === 'lost' ? 'Its data is back: svc up starts it.' : null;
}
