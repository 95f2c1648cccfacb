import { askSupervisor } from '../control/control-client.ts';
import type { Definition } from '../definition/definition.ts';
import { missingCertificate } from '../front/served-certificate.ts';
import type { Installation } from '../installation.ts';
import { findRunning, type RunningPlatform } from '../state/find-running.ts';
import {
  type PartEnd,
  type PlatformRecord,
  readFailure,
  readRecord,
  type ServiceRecord,
} from '../state/platform-record.ts';
import { memoryOf } from '../state/process-identity.ts';
import { readPlan } from './plan.ts';
import { type Content, noContent, readContent } from './read-content.ts';
import { readReadiness } from './readiness.ts';
import { type ServiceState, transition } from './transition.ts';
import { findUnwantedEnd, type UnwantedEnd } from './unwanted-end.ts';
import { type Urls, urlsOf } from './urls.ts';

/** What `svc up` and `svc status` print as JSON. */
export interface Status extends Content {
  readonly state: 'running' | 'stopped' | 'degraded';
  readonly topology: Definition['topology'];
  readonly engine: Definition['engine'];
  /** Of the platform that runs; a command of another version should say so. Null while none does. */
  readonly version: string | null;
  readonly urls: Urls;
  /** What starts processes again that end; null where all services live in one process, or nothing runs. */
  readonly supervisor: SupervisorStatus | null;
  readonly services: readonly ServiceStatus[];
  /** Where nobody stopped it: how it ended. Its services may go on without it, and then nothing starts them again. */
  readonly ended: UnwantedEnd | null;
}

export interface SupervisorStatus {
  readonly pid: number;
  readonly state: 'running' | 'silent' | 'gone';
}

export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  readonly health: 'green' | 'yellow' | 'red';
  readonly url: string | null;
  readonly pid: number | null;
  /** ISO 8601, when it took its present state. */
  readonly since: string | null;
  /** Of its process, which in the embedded topology is the same for all. */
  readonly memoryBytes: number | null;
  /** Why it is not healthy. */
  readonly reason: string | null;
  /** How often it ended without being asked since the platform was started; and the last of these ends, the youngest last. */
  readonly restarts: number;
  readonly ends: readonly PartEnd[];
}

export interface StatusOptions {
  readonly installation: Installation;
  readonly signal?: AbortSignal | undefined;
}

/** What runs now. Never changes anything; a platform that is not running is an answer, not an error. */
export async function status({ installation, signal }: StatusOptions): Promise<Status> {
  const running = findRunning(installation);
  if (running === null) return stoppedStatus(installation);
  if (running.record === null) return unrecordedStatus(installation, running.pid);
  const supervisor = await askHow(installation, running, signal);
  const seen = await runningStatus(installation, supervisor.record ?? running.record, signal);
  if (running.record.topology === 'embedded') return seen;
  const { pid } = running;
  if (running.isAbandoned) {
    const ended = await findUnwantedEnd(installation);
    return { ...seen, state: 'degraded', supervisor: { pid, state: 'gone' }, ended };
  }
  const { isSilent } = supervisor;
  const state = isSilent ? 'degraded' : seen.state;
  return { ...seen, state, supervisor: { pid, state: isSilent ? 'silent' : 'running' } };
}

/** A status must come in time; what the supervisor has written down is as good as what it says. */
const silenceMaxMs = 1000;

interface Supervision {
  readonly record: PlatformRecord | null;
  readonly isSilent: boolean;
}

async function askHow(
  installation: Installation,
  { record, isAbandoned }: RunningPlatform,
  signal: AbortSignal | undefined,
): Promise<Supervision> {
  if (record === null || record.topology === 'embedded' || isAbandoned) return { record, isSilent: false };
  try {
    const reply = await askSupervisor(installation, { kind: 'status' }, { silenceMaxMs, signal });
    return { record: reply.kind === 'record' ? reply.record : record, isSilent: false };
  } catch (error) {
    if (signal?.aborted) throw error;
    // Where it has only begun, nobody can be asked yet.
    return { record, isSilent: record.services.every(({ state }) => state !== 'planned') };
  }
}

async function stoppedStatus(installation: Installation): Promise<Status> {
  const { definition, addresses, parts } = readPlan(installation);
  const failure = readFailure(installation);
  const ended = await findUnwantedEnd(installation);
  const left = readRecord(installation)?.services ?? [];
  // What a record still says of a service is what it was before its process ended.
  const stateOf = (name: string) => transition(left.find((one) => one.name === name)?.state ?? 'stopped', 'ended');
  return {
    state: 'stopped',
    topology: definition.topology,
    engine: definition.engine,
    version: null,
    urls: urlsOf(addresses),
    supervisor: null,
    services: parts.map(({ name, url }) => ({
      name,
      state: stateOf(name),
      health: 'red',
      url,
      pid: null,
      since: ended?.at ?? null,
      memoryBytes: null,
      reason: failure?.service === name || failure?.service === 'platform' ? failure.message : null,
      ...noEnds,
    })),
    ended,
    ...noContent,
  };
}

/** Of a platform that runs, and of which no more is known than that. */
function unrecordedStatus(installation: Installation, pid: number): Status {
  const { definition, addresses, parts } = readPlan(installation);
  const memoryBytes = memoryOf(pid);
  return {
    state: 'degraded',
    topology: definition.topology,
    engine: definition.engine,
    version: null,
    urls: urlsOf(addresses),
    supervisor: null,
    services: parts.map(({ name }) => ({
      name,
      state: 'starting',
      health: 'yellow',
      url: null,
      pid,
      since: null,
      memoryBytes,
      reason:
        'Its process runs, but state/ does not say how: it has only begun, or the file was lost, which svc up repairs.',
      ...noEnds,
    })),
    ended: null,
    ...noContent,
  };
}

async function runningStatus(
  installation: Installation,
  running: PlatformRecord,
  signal: AbortSignal | undefined,
): Promise<Status> {
  const [services, content] = await Promise.all([
    Promise.all(running.services.map((service) => probe(running, service, signal).then(withCertificate(running)))),
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
    ...content,
  };
}

const noEnds = { restarts: 0, ends: [] } as const;

const healthOf: Readonly<Record<ServiceState, ServiceStatus['health']>> = {
  planned: 'yellow',
  starting: 'yellow',
  healthy: 'green',
  unhealthy: 'red',
  restarting: 'red',
  failed: 'red',
  stopped: 'red',
};

/** What the record says of a service, and what the service itself says now. */
async function probe(
  { pid: platform, topology }: PlatformRecord,
  { name, state: recorded, since, url, readyUrl, process, endCount: restarts, lastEnds: ends }: ServiceRecord,
  signal: AbortSignal | undefined,
): Promise<ServiceStatus> {
  const pid = topology === 'embedded' ? platform : (process?.pid ?? null);
  const memoryBytes = pid === null ? null : memoryOf(pid);
  const known = { name, url, pid, memoryBytes, restarts, ends };
  if (!mayBeReady.has(recorded)) {
    const reason = recorded === 'restarting' || recorded === 'failed' ? describeEnds(recorded, ends) : null;
    return { ...known, state: recorded, health: healthOf[recorded], since, reason };
  }
  const readiness = await readReadiness(readyUrl, signal);
  const state = transition(recorded, readiness.ready ? 'ready' : 'not_ready');
  return {
    ...known,
    state,
    health: healthOf[state],
    since: state === recorded ? since : new Date().toISOString(),
    reason: readiness.ready ? null : readiness.missing,
  };
}

/** A front that is well turns everybody away as long as it has no certificate. */
function withCertificate({ urls }: PlatformRecord): (service: ServiceStatus) => Promise<ServiceStatus> {
  return async (service) => {
    const { url, health } = service;
    if (health !== 'green' || url === null || !url.startsWith('https://')) return service;
    const reason = await missingCertificate({ url, publicUrl: urls.mcp });
    return reason === null ? service : { ...service, health: 'yellow', reason };
  };
}

const mayBeReady: ReadonlySet<ServiceState> = new Set(['starting', 'healthy', 'unhealthy']);

function describeEnds(state: 'restarting' | 'failed', ends: readonly PartEnd[]): string {
  const last = ends.at(-1);
  const why = last === undefined ? '' : `: it ${last.reason}`;
  return state === 'failed' ? `Given up until the next svc up${why}.` : `Being started again${why}.`;
}
