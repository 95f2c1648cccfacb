import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';

/** What `svc up` and `svc status` print as JSON. */
export interface Status {
  readonly state: 'running' | 'stopped' | 'degraded';
  readonly topology: 'embedded' | 'distributed';
  readonly engine: 'process' | 'docker';
  readonly urls: Urls;
  readonly services: readonly ServiceStatus[];
  readonly mcpServers: readonly McpServerStatus[];
  readonly runtimes: readonly RuntimeStatus[];
}

/** Where people, browsers and agents reach the platform, and where the runtime's own web service is. */
export interface Urls {
  readonly app: string;
  readonly api: string;
  readonly mcp: string;
  readonly runtime: string;
}

export interface ServiceStatus {
  readonly name: string;
  readonly state: 'planned' | 'starting' | 'healthy' | 'unhealthy' | 'stopped';
  readonly health: 'green' | 'yellow' | 'red';
  readonly url: string | null;
  readonly pid: number | null;
  /** ISO 8601, when it took its present state. */
  readonly since: string | null;
  readonly memoryBytes: number | null;
  /** Why it is not healthy. */
  readonly reason: string | null;
}

export interface McpServerStatus {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly status: string;
  readonly health: string;
  readonly reason: { readonly code: string; readonly message: string; readonly repair: string } | null;
}

export interface RuntimeStatus {
  readonly id: string;
  readonly name: string;
  readonly available: boolean;
}

export interface StatusOptions {
  readonly installation: Installation;
  readonly signal?: AbortSignal;
}

/** What runs now. Never changes anything; a platform that is not running is an answer, not an error. */
export async function status(_options: StatusOptions): Promise<Status> {
  throw new SvcError('unsupported', 'The status cannot be read yet.');
}
