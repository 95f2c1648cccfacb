import { setTimeout as pause } from 'node:timers/promises';
import {
  type Assigned,
  type Assignment,
  type Reason,
  type RefusedAssignment,
  type ServerReport,
  shownReason,
  stderrLinesMax,
} from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import type { Launchers } from '../launchers/launch.ts';
import { settledWithin } from '../time/settled-within.ts';
import { untilAborted } from '../time/until-aborted.ts';
import type { Answer, Call } from './call.ts';
import { CallRefused } from './call-refused.ts';
import { Complaints } from './complaints.ts';
import { type Instance, type PingOutcome, type StartedInstance, startInstance } from './instance.ts';
import {
  type Event,
  healthOf,
  initialState,
  isExpectedWithin,
  reasonOf,
  type State,
  stableAfterMs,
  statusOf,
  transition,
} from './mcp-server-state.ts';
import { PingSchedule } from './ping-schedule.ts';
import type { StartGate } from './start-gate.ts';
import { sameTools, type ToolList } from './tool-list.ts';

export interface McpServerOptions {
  readonly launchers: Launchers;
  readonly gate: StartGate;
  readonly version: string;
  readonly startMaxMs: number;
  readonly callMaxMs: number;
  readonly logger: Logger;
  /** A reported value has changed. */
  readonly onChange: () => void;
}

/** The report about an MCP server; `tools` is separate because it is large and rarely changes. */
export interface Snapshot {
  readonly report: ServerReport;
  readonly tools: ToolList | null;
}

/**
 * remote-mcp does not send calls to a starting MCP server. A call that arrives anyway was sent while it was Connected:
 * it waits this long for the next start.
 */
const callWaitMs = 3000;
/** A replaced instance may finish its calls for this long. */
const drainMaxMs = 10_000;

interface InstanceEnd {
  readonly failure: Reason | null;
  readonly stopped: Promise<void> | null;
}

/** One MCP server of this runtime: keeps an instance of it running, and tracks its state. */
export class McpServer {
  readonly #options: McpServerOptions;
  #assignment: Assigned;
  #state: State = initialState;
  #instance: Instance | null = null;
  #tools: ToolList | null = null;
  #lastWords: readonly string[] = [];
  #complaints = new Complaints();
  #pings = new PingSchedule();
  /** Its work for one assignment, until the next. Events of an earlier life are ignored. */
  #life = new AbortController();
  #drainMs = drainMaxMs;
  #living: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  constructor(assignment: Assigned, options: McpServerOptions) {
    this.#assignment = assignment;
    this.#options = options;
  }

  get assignment(): Assigned {
    return this.#assignment;
  }

  get inFlight(): number {
    return this.#instance?.inFlight ?? 0;
  }

  /** It has been asked to stop; some of its processes may remain. */
  get isStopped(): boolean {
    return this.#state.phase === 'stopped';
  }

  /** Runs this assignment from now on. The previous instance finishes its calls first. */
  run(assignment: Assigned): void {
    this.#assignment = assignment;
    this.#tools = null;
    this.restart();
  }

  /** The same configuration with another name, other deadlines or a renewed token needs no restart. */
  rename(assignment: Assigned): void {
    const before = authorizationOf(this.#assignment);
    this.#assignment = assignment;
    // It may be waiting after a refusal of the token before.
    if (authorizationOf(assignment) !== before && this.#instance === null) this.restart();
  }

  restart(): void {
    const life = this.#beginLife(drainMaxMs);
    this.#apply({ kind: 'replaced' });
    // Lives run one after the other: two at once would use the same home and processes.
    this.#living = this.#living.then(() => this.#live(life));
  }

  /** Resolves when no process of it is left. It may be run again at any time. */
  stop(drainMs: number): Promise<void> {
    this.#beginLife(drainMs);
    this.#apply({ kind: 'stop' });
    return this.ended;
  }

  /** Resolves when everything requested so far is finished. */
  get ended(): Promise<void> {
    return this.#living;
  }

  call(call: Call): Promise<Answer> {
    return this.#instance === null ? this.#callWhenConnected(call) : this.#instance.call(call);
  }

  snapshot(): Snapshot {
    const state = this.#state;
    const { mcpServer, configVersion } = this.#assignment;
    const reason = reasonOf(state);
    const lastWords = this.#instance?.lastWords() ?? this.#lastWords;
    const report: ServerReport = {
      mcpServer,
      configVersion,
      status: statusOf(state),
      health: healthOf(state),
      reason: reason === null ? null : shownReason(reason),
      restarts: state.restarts,
      startedAt: state.startedAt,
      nextRetryAt: state.phase === 'failed' ? state.retryAt : null,
      stderr: lastWords.slice(-stderrLinesMax),
    };
    return { report, tools: this.#tools };
  }

  /** Ends the current life: no new calls, and open ones have this long. */
  #beginLife(drainMs: number): AbortSignal {
    this.#instance = null;
    this.#drainMs = drainMs;
    this.#life.abort();
    this.#life = new AbortController();
    return this.#life.signal;
  }

  /** Starts, watches, waits and restarts until the life is over, then stops the instance. */
  async #live(life: AbortSignal): Promise<void> {
    const assignment = this.#assignment;
    if ('refused' in assignment) return life.aborted ? undefined : this.#refuse(assignment);
    while (!life.aborted) {
      const { failure, stopped } = await this.#liveOnce(life).catch((thrown: unknown) => this.#ownFault(thrown));
      if (failure !== null && !life.aborted) {
        this.#apply({ kind: 'failed', reason: failure });
        this.#log(failure);
      }
      await stopped;
      if (life.aborted) return;
      const retryAt = this.#state.phase === 'failed' ? this.#state.retryAt : 0;
      await pause(Math.max(0, retryAt - evenNow()), undefined, { signal: life }).catch(() => {});
      if (!life.aborted) this.#apply({ kind: 'retry' });
    }
  }

  /** Lasts until the launch is allowed, which arrives as another assignment. */
  #refuse({ mcpServer, name: mcpServerName, refused }: RefusedAssignment): void {
    this.#apply({ kind: 'refused', reason: refused });
    this.#options.logger.warn({ mcpServer, mcpServerName, why: refused.message }, 'refused to start');
  }

  /**
   * One start up to its end; `stopped` resolves when no process of it is left. No failure when the life ended
   * meanwhile.
   */
  async #liveOnce(life: AbortSignal): Promise<InstanceEnd> {
    const started = await this.#startInTurn(life);
    if (started === null) return { failure: null, stopped: null };
    if (!started.ok) {
      this.#lastWords = started.lastWords;
      return { failure: started.reason, stopped: null };
    }
    const { instance, tools } = started;
    if (!life.aborted) this.#connected(instance, tools);
    const failure = await this.#watch(instance, life);
    if (this.#instance === instance) this.#instance = null;
    if (life.aborted) await this.#drain(instance);
    this.#lastWords = instance.lastWords();
    return { failure, stopped: instance.stop() };
  }

  async #drain(instance: Instance): Promise<void> {
    await settledWithin(instance.idle(), this.#drainMs);
    const what = this.isStopped ? 'has been stopped' : 'is restarting';
    instance.close(new SvcError('unavailable', `MCP server "${this.#assignment.name}" ${what}.`));
  }

  /** A bug of the runtime with one MCP server must not end the others. */
  #ownFault(thrown: unknown): InstanceEnd {
    const { message, hint } = withBugReported(thrown, this.#options.logger);
    return { failure: { code: 'internal', message, repair: hint ?? 'Restart the MCP server.' }, stopped: null };
  }

  async #startInTurn(life: AbortSignal): Promise<StartedInstance | null> {
    const release = await this.#options.gate.turn(life).catch(() => null);
    if (release === null) return null;
    try {
      const assignment = this.#assignment;
      if (life.aborted || 'refused' in assignment) return null;
      return await this.#startOne(assignment, life);
    } finally {
      release();
    }
  }

  async #startOne(assignment: Assignment, life: AbortSignal): Promise<StartedInstance> {
    const { launchers, logger, version } = this.#options;
    const startMaxMs = msOr(assignment.startTimeout, this.#options.startMaxMs);
    this.#apply({ kind: 'start' });
    const complaints = new Complaints();
    const pings = new PingSchedule();
    this.#complaints = complaints;
    this.#pings = pings;
    const complain = () => (this.#complaints === complaints ? this.#complain() : undefined);
    const listener = {
      toolsChanged: (tools: ToolList) => (life.aborted ? undefined : this.#learn(tools)),
      toolsUnreadable: (reason: Reason) => {
        complaints.unreadable(reason);
        complain();
      },
      garbage: (sample: string, bug?: unknown) => {
        if (bug !== undefined && complaints.bug()) withBugReported(bug, logger);
        if (!complaints.garbage()) return;
        logger.debug({ mcpServer: this.#assignment.mcpServer, sample }, 'received a line that is not MCP');
        complain();
      },
      doubted: () => pings.doubt(),
    };
    return startInstance({
      assignment,
      authorization: () => authorizationOf(this.#assignment),
      launchers,
      version,
      listener,
      logger,
      startMaxMs,
      signal: life,
    });
  }

  #connected(instance: Instance, tools: ToolList): void {
    this.#instance = instance;
    if (!sameTools(this.#tools, tools)) this.#tools = tools;
    this.#apply({ kind: 'connected' });
    this.#complain();
    const { mcpServer, name: mcpServerName } = this.#assignment;
    this.#options.logger.info({ mcpServer, mcpServerName, tools: tools.tools.length }, 'connected');
  }

  /** Watches until the instance ends, has not answered for too long, or the life is over. */
  async #watch(instance: Instance, life: AbortSignal): Promise<Reason | null> {
    const watching = new AbortController();
    const { signal } = watching;
    const over = untilAborted(life, signal).then(() => null);
    const deaf = Promise.withResolvers<Reason>();
    const onPing = (outcome: PingOutcome) => {
      const { inFlight, silentForMs } = instance;
      const busyMaxMs = msOr(this.#assignment.callTimeout, this.#options.callMaxMs);
      if (!life.aborted) this.#apply({ kind: 'ping', outcome, inFlight, silentForMs, busyMaxMs });
      if (this.#state.phase === 'failed') deaf.resolve(this.#state.failure);
    };
    void this.#pings.watch({ instance, onPing, signal });
    const settling = setTimeout(() => (life.aborted ? undefined : this.#apply({ kind: 'settled' })), stableAfterMs);
    try {
      return await Promise.race([over, instance.ended, deaf.promise]);
    } finally {
      watching.abort();
      clearTimeout(settling);
    }
  }

  async #callWhenConnected(call: Call): Promise<Answer> {
    const deadline = performance.now() + callWaitMs;
    const leftMs = () => deadline - performance.now();
    while (this.#instance === null && isExpectedWithin(this.#state, leftMs(), evenNow()) && !call.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await settledWithin(promise, leftMs());
      this.#waiting.delete(resolve);
    }
    if (this.#instance !== null) return this.#instance.call(call);
    throw this.#unavailable();
  }

  #unavailable(): SvcError {
    const { name } = this.#assignment;
    const reason = reasonOf(this.#state);
    const why = reason === null ? '' : ` ${reason.message.split('\n', 1)[0]}`;
    return new CallRefused('unavailable', `MCP server "${name}" is not running.${why}`, {
      hint: reason?.repair ?? `Show the reason: svc server show ${name}`,
    });
  }

  #learn(tools: ToolList): void {
    if (!sameTools(this.#tools, tools)) this.#tools = tools;
    this.#complaints.unreadable(null);
    this.#complain();
    this.#options.onChange();
  }

  #complain(): void {
    this.#apply({ kind: 'complaint', reason: this.#complaints.first(this.#tools) });
  }

  #apply(event: Event): void {
    const before = this.#state;
    this.#state = transition(before, event, { now: evenNow(), random: Math.random() });
    if (JSON.stringify(before) === JSON.stringify(this.#state)) return;
    for (const wake of this.#waiting) wake();
    this.#options.onChange();
  }

  #log(failure: Reason): void {
    const { mcpServer, name: mcpServerName } = this.#assignment;
    const { failures } = this.#state;
    // Only the first failure of a series is a warning.
    const level = failures === 1 ? 'warn' : 'debug';
    this.#options.logger[level](
      { mcpServer, mcpServerName, failures, code: failure.code, why: failure.message },
      'failed',
    );
  }
}

function authorizationOf(assignment: Assigned): string | undefined {
  return 'launch' in assignment ? assignment.authorization : undefined;
}

function msOr(seconds: number | null | undefined, usualMs: number): number {
  return seconds == null ? usualMs : 1000 * seconds;
}

/** Wall-clock time of the process's start plus monotonic time: setting the clock does not change a delay. */
function evenNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
