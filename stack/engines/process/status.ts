import { healthOf, noEnds, type ServiceStatus, type Status } from '../../lifecycle/platform-status.ts';
import { readContent } from '../../lifecycle/read-content.ts';
import { readReadiness } from '../../lifecycle/readiness.ts';
import { stoppedStatus } from '../../lifecycle/stopped-status.ts';
import { withCertificate } from '../../lifecycle/with-certificate.ts';
import { ownVersion } from '../../machine/version.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { findOriginal } from '../../state/find-original.ts';
import { findRunning } from '../../state/find-running.ts';
import { describeFullDisk } from '../../state/free-space.ts';
import { isSilent } from '../../state/heartbeat.ts';
import type { Installation } from '../../state/installation.ts';
import type { PartEnd, PlatformRecord, ServiceRecord } from '../../state/platform-record.ts';
import { memoryOf } from '../../state/process-identity.ts';
import { type ServiceState, transition } from '../../state/transition.ts';
import type { Inspection } from '../engine.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';
import { stoppedProcesses } from './stopped-processes.ts';

/** Reads the state of every process. Changes nothing. */
export async function statusOfProcesses({ installation, readPlan, signal }: Inspection): Promise<Status> {
  const running = findOriginal(installation) === null ? findRunning(installation) : null;
  if (running === null) return stoppedProcesses(readPlan());
  if (running.record === null) return unrecordedStatus(readPlan(), running.pid);
  const seen = await runningStatus(installation, running.record, signal);
  if (running.record.topology === 'embedded') return seen;
  const { pid } = running;
  if (running.isAbandoned) {
    const ended = await findUnwantedEnd(installation);
    return { ...seen, state: 'degraded', supervisor: { pid, state: 'gone' }, ended };
  }
  // A supervisor of another version may not touch its record.
  if (running.record.version === ownVersion() && (await isSilent(installation, signal)))
    return { ...seen, state: 'degraded', supervisor: { pid, state: 'silent' } };
  return { ...seen, supervisor: { pid, state: 'running' } };
}

/** A platform that runs, without a record that says how. */
function unrecordedStatus(plan: Plan, pid: number): Status {
  const reason =
    'Its process runs, but state/ does not say how: it is starting, or the file was lost. svc up repairs that.';
  const stopped = stoppedStatus(plan, { ended: null, serviceOf: () => ({ state: 'starting', reason, pid: null }) });
  const memoryBytes = memoryOf(pid);
  const services = stopped.services.map(({ name }) => {
    return {
      name,
      state: 'starting',
      health: 'yellow',
      url: null,
      pid,
      since: null,
      memoryBytes,
      reason,
      ...noEnds,
    } as const;
  });
  return { ...stopped, state: 'degraded', services };
}

async function runningStatus(
  installation: Installation,
  running: PlatformRecord,
  signal: AbortSignal | undefined,
): Promise<Status> {
  const [services, content] = await Promise.all([
    Promise.all(
      running.services.map((service) =>
        probe(running, service, signal).then(withLoss(installation)).then(withCertificate(running.urls)),
      ),
    ),
    readContent(installation, running, signal),
  ]);
  return {
    state: services.every(({ state }) => state === 'healthy') ? 'running' : 'degraded',
    topology: running.topology,
    engine: 'process',
    version: running.version,
    urls: running.urls,
    supervisor: null,
    services,
    ended: null,
    fullDisk: describeFullDisk(installation),
    copyOf: null,
    ...content,
  };
}

/** The state in the record, corrected by what the service itself answers. */
async function probe(
  { pid: platform, topology }: PlatformRecord,
  { name, state: recorded, since, url, ready, process, endCount: restarts, lastEnds: ends }: ServiceRecord,
  signal: AbortSignal | undefined,
): Promise<ServiceStatus> {
  const pid = topology === 'embedded' ? platform : (process?.pid ?? null);
  const memoryBytes = pid === null ? null : memoryOf(pid);
  const known = { name, url, pid, memoryBytes, restarts, ends };
  if (!mayBeReady.has(recorded)) {
    const reason = recorded === 'restarting' || recorded === 'failed' ? describeEnds(recorded, ends) : null;
    return { ...known, state: recorded, health: healthOf[recorded], since, reason };
  }
  const readiness = await readReadiness(ready, signal);
  const state = transition(recorded, readiness.ready ? 'ready' : 'not_ready');
  return {
    ...known,
    state,
    health: healthOf[state],
    since: state === recorded ? since : new Date().toISOString(),
    reason: readiness.ready ? null : readiness.missing,
  };
}

/** A node whose data is gone counts as lost, even while its process runs on with deleted files open. */
function withLoss(installation: Installation): (service: ServiceStatus) => ServiceStatus {
  return (service) => {
    const loss = describeNodeLoss(installation, service.name);
    if (loss !== null) return { ...service, state: 'lost', health: healthOf.lost, reason: loss };
    if (service.state !== 'lost') return service;
    return { ...service, reason: 'Its data is back: svc up starts it.' };
  };
}

const mayBeReady: ReadonlySet<ServiceState> = new Set(['starting', 'healthy', 'unhealthy']);

function describeEnds(state: 'restarting' | 'failed', ends: readonly PartEnd[]): string {
  const last = ends.at(-1);
  const why = last === undefined ? '' : `: it ${last.reason}`;
  return state === 'failed' ? `Not restarted until the next svc up${why}.` : `Restarting${why}.`;
}
