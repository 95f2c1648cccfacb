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

/** What is listened to on the bus, set up once per connection. */
export interface BusListener {
  /** A connection was made for the first time: subscribe here. */
  opened(bus: Bus): void;
  /** The connection is there, for the first time or again: what was said meanwhile was missed. */
  connected(): void;
}

export interface Connected {
  readonly bus: Bus;
}

/** A bus that is started anew is back within two seconds: agents need not be told of it. */
const returnPatienceMs = 5000;
/** How long an answer to hello is waited for, and how often the backend is asked whether it is still there. */
const helloDeadlineMs = 5000;
const helloEveryMs = 5000;

/** The way to the bus: connects however long it takes, introduces remote-mcp to the backend, and knows who of the two is there. */
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

  /** The connection as soon as it is there. Throws `unavailable` where that takes longer than anybody should wait. */
  async connected(): Promise<Connected> {
    const deadline = performance.now() + returnPatienceMs;
    for (let present = this.present; ; present = this.present) {
      if (present !== null) return present;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.#isLeaving) throw notConnected();
      await Promise.race([this.#changes.promise, wait(leftMs, undefined, { ref: false })]);
    }
  }

  /** What the backend said when it was greeted; null until it answered. */
  get hello(): HelloReply | null {
    return this.#hello;
  }

  /** Null where all is well, else why not, in words for whoever runs the platform. */
  get busProblem(): string | null {
    return this.#isConnected ? null : this.#problem;
  }

  get backendProblem(): string | null {
    return this.#backendProblem;
  }

  /** From now on nothing waits for a lost connection to return, nor for the answers of a silent bus. */
  async beginStop(): Promise<void> {
    this.#isLeaving = true;
    this.#tellWaiting();
    await this.#bus?.beginClose();
  }

  async stop(): Promise<void> {
    await this.beginStop();
    this.#stopping.abort();
    // A connection that is still being made closes by itself.
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

  /** Says hello until it is answered, and then again and again: that is how the absence of the backend is noticed. */
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
