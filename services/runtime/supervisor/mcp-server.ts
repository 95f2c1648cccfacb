import { setTimeout as pause } from 'node:timers/promises';
import type { Assignment, Reason, ServerReport } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Launchers } from '../launchers/launch.ts';
import { settledWithin } from '../time/settled-within.ts';
import type { Answer, Call } from './conversation.ts';
import { type Instance, startInstance } from './instance.ts';
import {
  deafPingsMax,
  type Event,
  healthOf,
  initialState,
  reasonOf,
  type State,
  stableAfterMs,
  statusOf,
  transition,
} from './mcp-server-state.ts';
import type { StartGate } from './start-gate.ts';
import type { ToolList } from './tool-list.ts';

export interface McpServerOptions {
  readonly launchers: Launchers;
  readonly gate: StartGate;
  readonly version: string;
  readonly startMaxMs: number;
  readonly logger: Logger;
  /** Something that is reported has changed. */
  readonly onChange: () => void;
}

/** What is told to the backend about an MCP server; `tools` stands by itself because it is large and rarely changes. */
export interface Snapshot {
  readonly report: ServerReport;
  readonly tools: ToolList | null;
}

/** Calls that come while it starts, or a moment before it is tried again, wait this long for it. */
const callWaitMs = 3000;
/** An instance that is replaced may finish its calls. */
const drainMaxMs = 10_000;
const pingIntervalMs = 30_000;
const deafPingIntervalMs = 5000;
/** Lines that are no MCP, after which it is said: a few at the start are common. */
const garbageMax = 20;

/** One MCP server of this runtime: keeps an instance of it running, and knows how it is. */
export class McpServer {
  readonly #options: McpServerOptions;
  #assignment: Assignment;
  #state: State = initialState;
  #instance: Instance | null = null;
  #tools: ToolList | null = null;
  #lastWords: readonly string[] = [];
  #trouble: { unreadable: Reason | null; garbage: number } = { unreadable: null, garbage: 0 };
  /** Aborts when a call got no answer, so that a ping tells at once whether anybody is there. */
  #doubt = new AbortController();
  #life = new AbortController();
  #living: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  constructor(assignment: Assignment, options: McpServerOptions) {
    this.#assignment = assignment;
    this.#options = options;
  }

  get assignment(): Assignment {
    return this.#assignment;
  }

  get inFlight(): number {
    return this.#instance?.inFlight ?? 0;
  }

  start(): void {
    this.#begin(Promise.resolve());
  }

  /** Another configuration: the old instance ends its calls, then the new one begins. */
  replace(assignment: Assignment): void {
    this.#assignment = assignment;
    this.#tools = null;
    this.restart();
  }

  /** The same configuration under another name: nothing needs to begin anew. */
  rename(assignment: Assignment): void {
    this.#assignment = assignment;
  }

  restart(): void {
    const before = this.#endLife('is being restarted', drainMaxMs);
    this.#apply({ kind: 'replaced' });
    this.#begin(before);
  }

  async stop(drainMs: number): Promise<void> {
    const before = this.#endLife('has been stopped', drainMs);
    this.#apply({ kind: 'stop' });
    await before;
  }

  call(call: Call): Promise<Answer> {
    return this.#instance === null ? this.#callWhenConnected(call) : this.#instance.call(call);
  }

  snapshot(): Snapshot {
    const state = this.#state;
    const { mcpServer, configVersion } = this.#assignment;
    const report: ServerReport = {
      mcpServer,
      configVersion,
      status: statusOf(state),
      health: healthOf(state),
      reason: reasonOf(state),
      restarts: state.restarts,
      startedAt: state.startedAt,
      nextRetryAt: state.phase === 'failed' ? state.retryAt : null,
      stderr: [...(this.#instance?.lastWords() ?? this.#lastWords)],
    };
    return { report, tools: this.#tools };
  }

  #begin(before: Promise<void>): void {
    const life = new AbortController();
    this.#life = life;
    this.#living = before.then(() => this.#live(life.signal));
  }

  /** Ends the present life: no new calls, those under way have until the deadline. */
  #endLife(what: string, drainMs: number): Promise<void> {
    const instance = this.#instance;
    this.#instance = null;
    const living = this.#living;
    const life = this.#life;
    this.#life = new AbortController();
    return (async () => {
      if (instance !== null) await settledWithin(instance.idle(), drainMs);
      instance?.close(new SvcError('unavailable', `MCP server "${this.#assignment.name}" ${what}.`));
      life.abort();
      await living;
    })();
  }

  /** Start, watch, wait, start again, until the life is over; whatever was started is then stopped. */
  async #live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const failure = await this.#liveOnce(signal);
      if (failure === null || !this.#isPresent(signal)) return;
      this.#apply({ kind: 'failed', reason: failure });
      this.#log(failure);
      const waitMs = this.#state.phase === 'failed' ? this.#state.retryAt - Date.now() : 0;
      await pause(waitMs, undefined, { signal }).catch(() => {});
      if (this.#isPresent(signal)) this.#apply({ kind: 'retry' });
    }
  }

  /** From one start to its end. Null where the life ended meanwhile. */
  async #liveOnce(signal: AbortSignal): Promise<Reason | null> {
    const started = await this.#startInTurn(signal);
    if (started === null) return null;
    if (!started.ok) {
      this.#lastWords = started.lastWords;
      return started.reason;
    }
    const { instance, tools } = started;
    if (this.#isPresent(signal)) this.#connected(instance, tools);
    const failure = await this.#watch(instance, signal);
    if (this.#instance === instance) this.#instance = null;
    this.#lastWords = instance.lastWords();
    await instance.stop();
    return failure;
  }

  async #startInTurn(signal: AbortSignal) {
    const { gate, launchers, logger, startMaxMs, version } = this.#options;
    const release = await gate.turn(signal).catch(() => null);
    if (release === null) return null;
    if (!this.#isPresent(signal)) {
      release();
      return null;
    }
    try {
      this.#apply({ kind: 'start' });
      this.#trouble = { unreadable: null, garbage: 0 };
      const ifPresent = (act: () => void) => (this.#isPresent(signal) ? act() : undefined);
      const listener = {
        toolsChanged: (tools: ToolList) => ifPresent(() => this.#learn(tools)),
        toolsUnreadable: (reason: Reason) => ifPresent(() => this.#complain({ unreadable: reason })),
        garbage: (sample: string) => ifPresent(() => this.#hearGarbage(sample)),
        doubted: () => this.#doubt.abort(),
      };
      return await startInstance({
        assignment: this.#assignment,
        launchers,
        version,
        listener,
        logger,
        startMaxMs,
        signal,
      });
    } finally {
      release();
    }
  }

  #connected(instance: Instance, tools: ToolList): void {
    this.#instance = instance;
    if (!sameTools(this.#tools, tools)) this.#tools = tools;
    this.#apply({ kind: 'connected' });
    this.#complain({});
    const { mcpServer, name: mcpServerName } = this.#assignment;
    this.#options.logger.info({ mcpServer, mcpServerName, tools: tools.tools.length }, 'connected');
  }

  /** Until the instance ends, leaves pings unanswered for too long, or the life is over. */
  async #watch(instance: Instance, signal: AbortSignal): Promise<Reason | null> {
    const over = Promise.withResolvers<null>();
    const end = () => over.resolve(null);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const watching = new AbortController();
    const settling = setTimeout(() => {
      if (this.#isPresent(signal)) this.#apply({ kind: 'settled' });
    }, stableAfterMs);
    try {
      return await Promise.race([over.promise, instance.ended, this.#keepPinging(instance, signal, watching.signal)]);
    } finally {
      watching.abort();
      clearTimeout(settling);
      signal.removeEventListener('abort', end);
    }
  }

  /** Returns when it has been deaf for so long that only a new start helps. */
  async #keepPinging(instance: Instance, life: AbortSignal, signal: AbortSignal): Promise<Reason | null> {
    let waitMs = pingIntervalMs;
    while (!signal.aborted) {
      this.#doubt = new AbortController();
      await pause(waitMs, undefined, { signal: AbortSignal.any([signal, this.#doubt.signal]) }).catch(() => {});
      if (signal.aborted) break;
      const isDoubted = this.#doubt.signal.aborted;
      const outcome = !isDoubted && instance.silentForMs < waitMs ? 'prompt' : await instance.ping();
      if (signal.aborted || !this.#isPresent(life)) break;
      this.#apply({ kind: 'ping', outcome });
      const deaf = this.#state.phase === 'connected' ? this.#state.deafPings : 0;
      // A call under way may be what it is busy with: it has a deadline of its own.
      if (deaf >= deafPingsMax && instance.inFlight === 0) return reasonOf(this.#state);
      waitMs = deaf > 0 ? deafPingIntervalMs : pingIntervalMs;
    }
    return null;
  }

  async #callWhenConnected(call: Call): Promise<Answer> {
    const deadline = performance.now() + callWaitMs;
    while (this.#isSoonConnected(deadline) && !call.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await settledWithin(promise, deadline - performance.now());
      this.#waiting.delete(resolve);
    }
    if (this.#instance !== null) return this.#instance.call(call);
    throw this.#unavailable();
  }

  #isSoonConnected(deadline: number): boolean {
    const leftMs = deadline - performance.now();
    if (this.#instance !== null || leftMs <= 0) return false;
    switch (this.#state.phase) {
      case 'waiting':
      case 'starting':
        return true;
      case 'failed':
        return this.#state.retryAt - Date.now() < leftMs;
      case 'connected': // Its instance has just ended, or is being replaced.
        return true;
      case 'stopped':
        return false;
    }
  }

  #unavailable(): SvcError {
    const { name } = this.#assignment;
    const reason = reasonOf(this.#state);
    const why = reason === null ? '' : ` ${reason.message.split('\n', 1)[0]}`;
    return new SvcError('unavailable', `MCP server "${name}" is not running.${why}`, {
      hint: reason?.repair ?? `See why: svc server show ${name}.`,
    });
  }

  #learn(tools: ToolList): void {
    if (!sameTools(this.#tools, tools)) this.#tools = tools;
    this.#complain({ unreadable: null });
    this.#options.onChange();
  }

  #hearGarbage(sample: string): void {
    this.#options.logger.debug({ mcpServer: this.#assignment.mcpServer, sample }, 'received a line that is no MCP');
    this.#trouble.garbage++;
    if (this.#trouble.garbage === garbageMax) this.#complain({});
  }

  #complain(change: { unreadable?: Reason | null }): void {
    Object.assign(this.#trouble, change);
    const reason =
      this.#trouble.unreadable ?? this.#tools?.omitted ?? (this.#trouble.garbage < garbageMax ? null : tooMuchGarbage);
    this.#apply({ kind: 'complaint', reason });
  }

  /** What an earlier life still does must not be taken for news of the present one. */
  #isPresent(life: AbortSignal): boolean {
    return this.#life.signal === life && !life.aborted;
  }

  #apply(event: Event): void {
    const before = this.#state;
    this.#state = transition(before, event, { now: Date.now(), random: Math.random() });
    if (JSON.stringify(before) === JSON.stringify(this.#state)) return;
    for (const wake of this.#waiting) wake();
    this.#options.onChange();
  }

  #log(failure: Reason): void {
    const { mcpServer, name: mcpServerName } = this.#assignment;
    const { failures } = this.#state;
    // The first failure is news; the rest of a series is not.
    const level = failures === 1 ? 'warn' : 'debug';
    this.#options.logger[level](
      { mcpServer, mcpServerName, failures, code: failure.code, why: failure.message },
      'failed',
    );
  }
}

const tooMuchGarbage: Reason = {
  code: 'not_only_mcp',
  message: 'It writes lines that are no MCP messages to its standard output.',
  repair: 'Let it write its log to standard error.',
};

/** The same list again is no news, and is not reported again. */
function sameTools(one: ToolList | null, other: ToolList): boolean {
  if (one === null || one.bytes !== other.bytes || one.tools.length !== other.tools.length) return false;
  return one.tools.every(({ definition }, at) => definition === other.tools[at]?.definition);
}
