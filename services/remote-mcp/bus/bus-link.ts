import { setTimeout as wait } from 'node:timers/promises';
import { type HelloReply, helloReply } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError, toSvcError } from '../../contracts/errors.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import { Backoff } from './backoff.ts';

export interface BusLinkOptions {
  /** Connects once; may refuse. */
  readonly open: () => Promise<Bus>;
  readonly log: Logger;
}

/** Sets up the subscriptions of a connection. */
export interface BusListener {
  /** Called with the first connection: subscribe here. */
  opened(bus: Bus): void;
  /** Called after each connect, the first and every later one. Messages sent in between were missed. */
  connected(): void;
}

export interface Connected {
  readonly bus: Bus;
}

/** A restarted bus is back within two seconds. Agents wait that long and get no error. */
const returnPatienceMs = 5000;
/** The deadline of a hello, and how often remote-mcp checks that the backend still answers. */
const helloDeadlineMs = 5000;
const helloEveryMs = 5000;

/** The link to the bus: connects with retries, introduces remote-mcp to the backend, and knows whether bus and backend are reachable. */
export class BusLink {
  readonly #options: BusLinkOptions;
  readonly #listeners: BusListener[] = [];
  readonly #stopping = new AbortController();
  #bus: Bus | null = null;
  #isConnected = false;
  /** Resolves at the next change of the connection. */
  #changes = Promise.withResolvers<void>();
  #problem = 'not connected yet';
  #hello: HelloReply | null = null;
  #backendProblem: string | null = 'not asked yet';
  #isLeaving = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: BusLinkOptions) {
    this.#options = options;
  }

  listen(listener: BusListener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** Null while there is no connection. */
  get present(): Connected | null {
    return this.#bus !== null && this.#isConnected ? { bus: this.#bus } : null;
  }

  /** The connection, once it exists. Throws `unavailable` when the wait is over. */
  async connected(): Promise<Connected> {
    const deadline = performance.now() + returnPatienceMs;
    for (let present = this.present; ; present = this.present) {
      if (present !== null) return present;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.#isLeaving) throw notConnected();
      await Promise.race([this.#changes.promise, wait(leftMs, undefined, { ref: false })]);
    }
  }

  /** The backend's answer to hello; null until it has answered. */
  get hello(): HelloReply | null {
    return this.#hello;
  }

  /** The problem, in words for the operator; null if there is none. */
  get busProblem(): string | null {
    return this.#isConnected ? null : this.#problem;
  }

  get backendProblem(): string | null {
    return this.#backendProblem;
  }

  /** From now on, nothing waits for a lost connection to return or for the answers of a silent bus. */
  async beginStop(): Promise<void> {
    this.#isLeaving = true;
    this.#tellWaiting();
    await this.#bus?.beginClose();
  }

  async stop(): Promise<void> {
    await this.beginStop();
    this.#stopping.abort();
    // An unfinished connection closes by itself.
    if (this.#bus === null) return;
    await this.#running;
    await this.#bus.close();
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      const bus = await this.#open(signal);
      await this.#greet(bus, signal);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }

  async #open(signal: AbortSignal): Promise<Bus> {
    const backoff = new Backoff();
    for (;;) {
      try {
        const bus = await this.#options.open();
        if (signal.aborted) {
          await bus.close();
          signal.throwIfAborted();
        }
        this.#use(bus);
        return bus;
      } catch (thrown) {
        signal.throwIfAborted();
        this.#problem = toSvcError(thrown).message;
        this.#options.log.warn({ err: thrown }, 'failed to connect to the bus');
      }
      await backoff.wait(signal);
    }
  }

  #use(bus: Bus): void {
    this.#bus = bus;
    this.#isConnected = true;
    bus.onConnection((state) => this.#changed(state));
    for (const listener of this.#listeners) listener.opened(bus);
    for (const listener of this.#listeners) listener.connected();
    this.#tellWaiting();
    this.#options.log.info('connected to the bus');
  }

  #changed(state: 'connected' | 'disconnected'): void {
    this.#isConnected = state === 'connected';
    this.#problem = 'the connection is lost';
    this.#options.log.warn({ state }, 'changed the connection to the bus');
    if (this.#isConnected) for (const listener of this.#listeners) listener.connected();
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    this.#changes.resolve();
    this.#changes = Promise.withResolvers();
  }

  /** Sends hello until the backend answers, then periodically, so that an absent backend is noticed. */
  async #greet(bus: Bus, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      const problem = await this.#sayHello(bus);
      if (problem !== this.#backendProblem && this.#hello !== null) {
        if (problem === null) this.#options.log.info('found the backend');
        else this.#options.log.warn({ problem }, 'lost the backend');
      }
      this.#backendProblem = problem;
      if (problem === null) {
        backoff.reset();
        await wait(helloEveryMs, undefined, { signal });
      } else await backoff.wait(signal);
    }
  }

  async #sayHello(bus: Bus): Promise<string | null> {
    try {
      const reply = await bus.request(subjects.hello(bus.identity.process), Buffer.from('{}'), {
        timeoutMs: helloDeadlineMs,
      });
      this.#hello = helloReply.parse(JSON.parse(Buffer.from(reply.payload).toString()));
      return null;
    } catch (thrown) {
      return toSvcError(thrown).message;
    }
  }
}

function notConnected(): SvcError {
  return new SvcError('unavailable', 'remote-mcp is not connected to the bus.', { hint: 'Try again shortly.' });
}
