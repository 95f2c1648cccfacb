import { z } from 'zod';
import {
  type Health,
  health,
  type Reason,
  reason as reasonParser,
  type ServerStatus,
} from '../../contracts/bus/messages.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import { findProcessId, parseId } from '../../contracts/ids.ts';
import { startingCode } from '../../contracts/reason-codes.ts';
import type { Node } from '../graph/graph.ts';

/** The state of an MCP server, over all runtime processes. */
export interface ServerState {
  readonly status: ServerStatus;
  readonly health: Health;
  readonly reason: Reason | null;
  readonly restarts: number;
  readonly startedAt: number | null;
  /** The soonest of all retries. */
  readonly nextRetryAt: number | null;
  /** Last lines of stderr of the process that decides the state. */
  readonly stderr: readonly string[];
  /** Processes in which it is Connected: possible destinations of calls. */
  readonly processes: readonly { readonly runtime: RuntimeId; readonly process: ProcessId }[];
}

type Server = Pick<Node<'mcpServer'>, 'name' | 'enabled' | 'configVersion'>;
/** A runtime that it is bound to; without one, the platform's own run it. */
type Bound = Pick<Node<'runtime'>, 'name' | 'revokedAt'>;
/** Its `reason` is the JSON text of a `Reason`, its `stderr` of a list of lines. */
type Status = Node<'status'>;

const stderrParser = z.array(z.string());

/**
 * Connected while one process is; Disconnected when it is disabled or has no process; otherwise Error, with its reason.
 * Reports about an earlier configuration do not count, because a person who changed it asks about the new one.
 */
export function stateOf(server: Server, statuses: readonly Status[], bound: readonly Bound[]): ServerState {
  if (!server.enabled) return without(reasons.disabled(server.name));
  if (statuses.length === 0) return without(reasons.noRuntime(bound));
  const current = statuses.filter((status) => status.configVersion === server.configVersion);
  if (current.length === 0) return without(reasons.starting());
  const connected = current.filter((status) => status.status === 'Connected');
  const failed = current.filter((status) => status.status === 'Error');
  const [speaker] = [...connected.filter(({ reason }) => reason !== null), ...failed, ...connected, ...current];
  const status = connected.length > 0 ? 'Connected' : failed.length > 0 ? 'Error' : 'Disconnected';
  return {
    status,
    health: healthOf(current, connected),
    reason: speaker === undefined ? null : reasonOf(speaker, status),
    restarts: current.reduce((sum, { restarts }) => sum + restarts, 0),
    startedAt: latest(current.map(({ startedAt }) => startedAt)),
    nextRetryAt: status === 'Error' ? soonest(failed.map(({ nextRetryAt }) => nextRetryAt)) : null,
    stderr: speaker === undefined ? [] : stderrParser.parse(JSON.parse(speaker.stderr)),
    processes: connected.flatMap(processOf),
  };
}

/** The name of the MCP server stands beside its reason everywhere. */
export const reasons = {
  disabled: (name: string): Reason => ({
    code: 'disabled',
    message: 'It is disabled.',
    repair: `Enable it: svc server enable ${name}`,
  }),
  noRuntime: (bound: readonly Bound[]): Reason => {
    const there = bound.filter(({ revokedAt }) => revokedAt === null);
    if (there.length > 0) return reasons.notConnected(there);
    return bound.length > 0 ? reasons.revoked(bound) : reasons.noneOfThePlatform();
  },
  notConnected: (bound: readonly Bound[]): Reason => ({
    code: 'no_runtime',
    message: `Its ${quoted(bound)} ${bound.length === 1 ? 'is' : 'are'} not connected.`,
    repair: 'Start it there again: svc runtime start. List the available runtimes: svc runtime list',
  }),
  revoked: (bound: readonly Bound[]): Reason => ({
    code: 'runtime_revoked',
    message: `Its ${quoted(bound)} ${bound.length === 1 ? 'was' : 'were'} revoked.`,
    repair:
      'Register it again and start it with the new key: svc runtime register NAME. Or add the MCP server on another runtime.',
  }),
  noneOfThePlatform: (): Reason => ({
    code: 'no_runtime',
    message: 'No available runtime runs it.',
    repair:
      'Wait a moment if it was just added or enabled. Otherwise start its runtime, or choose another one. List the available runtimes: svc status',
  }),
  starting: (): Reason => ({
    code: startingCode,
    message: 'It is starting with its current configuration.',
    repair: 'Wait a moment and look again.',
  }),
  stopped: (): Reason => ({
    code: 'stopped',
    message: 'Its runtime stopped it.',
    repair: 'It starts again with its runtime. List the available runtimes: svc status',
  }),
  unknown: (): Reason => ({
    code: 'unknown',
    message: 'The runtime gives no reason why it is not connected.',
    repair: 'Read the log of the runtime: svc logs runtime',
  }),
};

function quoted(bound: readonly Bound[]): string {
  const names = bound.slice(0, namesMax).map(({ name }) => `"${name}"`);
  return `runtime${bound.length === 1 ? '' : 's'} ${names.join(', ')}${bound.length > namesMax ? ' and others' : ''}`;
}

/** A reason stays one line, however many runtimes an MCP server is bound to. */
const namesMax = 5;

function without(because: Reason): ServerState {
  return {
    status: 'Disconnected',
    health: 'red',
    reason: because,
    restarts: 0,
    startedAt: null,
    nextRetryAt: null,
    stderr: [],
    processes: [],
  };
}

/** Green when every process is healthy, red when none can be called, yellow otherwise. */
function healthOf(current: readonly Status[], connected: readonly Status[]): Health {
  const healths = connected.map((status) => health.parse(status.health));
  if (healths.every((value) => value === 'red')) return 'red';
  return connected.length === current.length && healths.every((value) => value === 'green') ? 'green' : 'yellow';
}

function reasonOf(speaker: Status, status: ServerStatus): Reason | null {
  const given = speaker.reason === null ? null : reasonParser.parse(JSON.parse(speaker.reason));
  if (given !== null || status === 'Connected') return given;
  return status === 'Disconnected' ? reasons.stopped() : reasons.unknown();
}

function latest(times: readonly (number | null)[]): number | null {
  return times.reduce((best, time) => (best === null || (time !== null && time > best) ? time : best), null);
}

function soonest(times: readonly (number | null)[]): number | null {
  return times.reduce((best, time) => (best === null || (time !== null && time < best) ? time : best), null);
}

function processOf(status: Status): ServerState['processes'] {
  const process = findProcessId(status.process);
  return process === null ? [] : [{ runtime: parseId('runtime', status.runtime), process }];
}
