import type { Plan } from '../plan/plan.ts';
import { searchPathSetting } from '../plan/search-path.ts';
import type { Definition } from '../settings/definition.ts';
import { findOriginal, nameOfOriginal } from '../state/find-original.ts';
import { describeFullDisk } from '../state/free-space.ts';
import type { Installation } from '../state/installation.ts';
import type { PartEnd } from '../state/platform-record.ts';
import type { ServiceState } from '../state/transition.ts';
import { type Content, readContent } from './read-content.ts';
import { missingCertificate } from './served-certificate.ts';
import type { UnwantedEnd } from './unwanted-end.ts';
import { type Urls, urlsOf } from './urls.ts';

/** The JSON of `svc up` and `svc status`. */
export interface Status extends Content {
  readonly state: 'running' | 'stopped' | 'degraded';
  readonly topology: Definition['topology'];
  readonly engine: Definition['engine'];
  /** Of the running platform; a command of another version reports the difference. Null while none runs. */
  readonly version: string | null;
  readonly urls: Urls;
  /** The PATH on which commands of MCP servers are found: that of `svc up`. Null in containers, and while none runs. */
  readonly path: string | null;
  /** The process that restarts ended parts; null when all services run in one process, or nothing runs. */
  readonly supervisor: { readonly pid: number; readonly state: 'running' | 'silent' | 'gone' } | null;
  readonly services: readonly ServiceStatus[];
  /** How an unstopped platform ended. Its services may still run, but are not restarted. */
  readonly ended: UnwantedEnd | null;
  /** A sentence about the full disk: each part with data there fails in its own way. */
  readonly fullDisk: string | null;
  /** If this folder is a copy: the folder of the original, or its process. Its state is not shown. */
  readonly copyOf: string | null;
}

type RunsAs =
  | { readonly pid: number | null; readonly container?: never }
  | { readonly container: string | null; readonly pid?: never };

export type ServiceStatus = PartState & { readonly health: Health };

type Health = 'green' | 'yellow' | 'red';

export type PartState = RunsAs & Observed;

interface Observed {
  readonly name: string;
  readonly state: ServiceState;
  readonly url: string | null;
  /** ISO 8601, when it entered its present state. */
  readonly since: string | null;
  /** Of its process or container. In the embedded topology one process is the same for all. */
  readonly memoryBytes: number | null;
  readonly reason: string | null;
  /** The number of its unrequested ends since the platform was started, and the last of them, the youngest last. */
  readonly restarts: number;
  readonly ends: readonly PartEnd[];
}

export function stoppedPart({ name, url }: Pick<Observed, 'name' | 'url'>): Observed {
  return { name, state: 'stopped', url, since: null, memoryBytes: null, reason: null, restarts: 0, ends: [] };
}

/** An engine's answer about a platform and its parts. */
export interface PlatformState
  extends Pick<Status, 'topology' | 'engine' | 'version' | 'urls'>,
    Partial<Pick<Status, 'supervisor' | 'ended'>> {
  readonly installation: Installation;
  readonly isUp: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly parts: readonly PartState[];
  /** A full disk that only the engine sees. */
  readonly fullDisk?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The settings and addresses of a platform that does not run, or whose record is missing. */
export function stateOfPlan(plan: Plan) {
  const { installation, definition, addresses } = plan;
  const { topology, engine } = definition;
  return { installation, topology, engine, version: null, urls: urlsOf(addresses), settings: {} };
}

/** The status of a platform: what its engine found, and what is the same with every engine. */
export async function statusOf(platform: PlatformState): Promise<Status> {
  const { installation, isUp, topology, engine, version, urls, settings, signal } = platform;
  const { supervisor = null, ended = null, fullDisk = null } = platform;
  const services = await Promise.all(platform.parts.map((part) => withHealth(part, urls)));
  const isSupervised = supervisor === null || supervisor.state === 'running';
  const isWell = isSupervised && services.every(({ state }) => state === 'healthy');
  return {
    state: isUp ? (isWell ? 'running' : 'degraded') : 'stopped',
    ...{ topology, engine, version, urls, supervisor, services, ended },
    path: settings[searchPathSetting] ?? null,
    fullDisk: describeFullDisk(installation) ?? fullDisk,
    copyOf: nameOfOriginal(findOriginal(installation)),
    ...(await readContent(installation, { settings, services }, signal)),
  };
}

const healthOf: Readonly<Record<ServiceState, Health>> = {
  planned: 'yellow',
  starting: 'yellow',
  healthy: 'green',
  unhealthy: 'red',
  restarting: 'red',
  failed: 'red',
  lost: 'red',
  stopped: 'red',
};

/** A healthy proxy refuses every client while it has no certificate. */
async function withHealth(part: PartState, urls: Urls): Promise<ServiceStatus> {
  const { url, state } = part;
  if (state === 'healthy' && url?.startsWith('https://')) {
    const reason = await missingCertificate(url, urls);
    if (reason !== null) return { ...part, health: 'yellow', reason };
  }
  return { ...part, health: healthOf[state] };
}
