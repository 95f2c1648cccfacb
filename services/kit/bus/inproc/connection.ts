import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { KeyId, RuntimeId } from '../../../contracts/ids.ts';
import {
  type Authorizer,
  type Bucket,
  type BucketOptions,
  type Bus,
  type Responder as Handle,
  type Headers,
  type Message,
  NobodyAnswers,
  type Reply,
  type RequestOptions,
  type RespondOptions,
  type Stream,
  type SubscribeOptions,
  type Subscription,
} from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { withinDeadline } from '../deadline.ts';
import { Permit } from '../permit.ts';
import { Subscriber } from '../subscriber.ts';
import { Exchange, type Wires } from './exchange.ts';
import { leastBusy, Responder } from './responder.ts';
import type { Route, Routes } from './routes.ts';
import type { Storage } from './storage.ts';

/** The inside of the bus, as a connection needs it. */
export interface Inside extends Wires {
  readonly routes: Routes;
  readonly storage: Storage;
  readonly authorizers: Set<Own<Authorizer>>;
  readonly goneListeners: Set<Own<GoneListener>>;
  /** Calls a listener in a turn of its own; what it throws is a bug of its own. */
  readonly tell: (listener: () => void) => void;
  readonly endRuntime: (runtime: RuntimeId, key?: KeyId) => void;
  readonly gone: (connection: Connection, wasConnected: boolean) => void;
}

export type GoneListener = (identity: Identity) => void;

/** What one connection put down: two may put down the same function. */
export interface Own<Item> {
  readonly item: Item;
}

/** `lost`: ended by the bus, which may let it back in. `closed`: for good. */
type State = 'open' | 'lost' | 'closing' | 'closed';

/** A handler of messages that is still busy when its connection closes is waited for this long. */
const closeDeadlineMs = 10_000;

export class Connection implements Bus {
  readonly identity: Identity;
  readonly #permit: Permit;
  readonly #inside: Inside;
  readonly #listeners = new Set<Subscriber | Responder>();
  readonly #consumers = new Set<Subscription>();
  readonly #watchers = new Set<(state: 'connected' | 'disconnected') => void>();
  readonly #backendOnly = new Set<() => void>();
  #state: State = 'open';
  #closing: Promise<void> | null = null;
  #connected = true;

  constructor(identity: Identity, inside: Inside) {
    this.identity = identity;
    this.#permit = new Permit(identity);
    this.#inside = inside;
  }

  get state(): State {
    return this.#state;
  }

  publish(subject: string, payload: Uint8Array, headers?: Headers): void {
    this.#checkUsable();
    const route = this.#routeTo(subject);
    // Refused or not must not depend on who listens, so the first copy is made even for nobody.
    let message: Message | null = { subject, payload: copyPayload(payload), headers: copyHeaders(headers) };
    const own = () => {
      const next = message ?? { subject, payload: copyPayload(payload), headers: copyHeaders(headers) };
      message = null;
      return next;
    };
    if (!this.#connected) return;
    for (const subscriber of route.subscribers) subscriber.hear(own());
  }

  subscribe(
    pattern: string,
    handle: (message: Message) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Subscription {
    this.#checkMayHear(pattern);
    const subscriber: Subscriber = new Subscriber(pattern, handle, options, {
      turns: this.#inside.turns,
      logger: this.#inside.logger,
      leave: () => this.#leave(subscriber),
    });
    return this.#join(subscriber);
  }

  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#checkUsable();
      if (!this.#connected) throw new SvcError('unavailable', 'The connection to the bus is lost.');
      if (options.signal?.aborted) throw new SvcError('cancelled', 'The request was cancelled.');
      const { responders } = this.#routeTo(subject);
      const answerer = leastBusy(responders);
      if (answerer === null) throw noAnswerer(subject, responders.length);
      new Exchange({ asker: this, answerer, subject, payload, options, resolve, reject }, this.#inside);
      answerer.begin();
    });
  }

  respond(pattern: string, handle: Handle, options: RespondOptions = {}): Subscription {
    this.#checkMayHear(pattern);
    const { inFlight } = this.#inside;
    const responder: Responder = new Responder(pattern, handle, options, {
      party: this,
      leave: () => {
        this.#leave(responder);
        return inFlight.none((exchange) => exchange.isAnsweredBy(responder));
      },
    });
    return this.#join(responder);
  }

  stream(name: string): Stream {
    this.#permit.checkMayUseStream(name);
    const stream = this.#inside.storage.stream(name);
    return {
      append: async (payload) => {
        this.#checkUsable();
        await stream.append(payload);
      },
      consume: (consumer, handle) => {
        this.#checkUsable();
        const consuming = stream.consume(consumer, handle);
        this.#consumers.add(consuming);
        return {
          stop: () => {
            this.#consumers.delete(consuming);
            return consuming.stop();
          },
        };
      },
    };
  }

  bucket(name: string, options: BucketOptions): Bucket {
    this.#permit.checkMayUseBucket(name);
    const bucket = this.#inside.storage.bucket(name, options);
    const usable = <Result>(work: () => Promise<Result>): Promise<Result> => {
      this.#checkUsable();
      return work();
    };
    return {
      get: async (key) => usable(() => bucket.get(key)),
      put: async (key, value) => usable(() => bucket.put(key, value)),
      update: async (key, value, revision) => usable(() => bucket.update(key, value, revision)),
      delete: async (key) => usable(() => bucket.delete(key)),
    };
  }

  onConnection(listener: (state: 'connected' | 'disconnected') => void): Subscription {
    this.#watchers.add(listener);
    return { stop: async () => void this.#watchers.delete(listener) };
  }

  authorize(authorizer: Authorizer): Subscription {
    return this.#asBackend('decide who connects', this.#inside.authorizers, authorizer);
  }

  async disconnect(runtime: RuntimeId, key?: KeyId): Promise<void> {
    this.#checkBackend('disconnect a runtime');
    this.#inside.endRuntime(runtime, key);
  }

  onGone(listener: GoneListener): Subscription {
    return this.#asBackend('hear who is gone', this.#inside.goneListeners, listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** The bus ends the connection: what is in flight fails at once. */
  end(state: 'lost' | 'closed'): void {
    if (this.#state === 'closed') return;
    this.#let(state);
    this.#tellWatchers('disconnected');
  }

  /** The bus lets a lost connection back in, with all it listened to. */
  resume(): void {
    this.#state = 'open';
    this.#connected = true;
    for (const listener of this.#listeners) this.#inside.routes.add(listener);
    this.#tellWatchers('connected');
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closing';
    const handlers = [...this.#consumers].map((consumer) => consumer.stop());
    for (const listener of this.#listeners) {
      const stopped = listener.stop();
      // Requests have deadlines of their own, handlers of messages have none.
      if (listener.kind === 'subscriber') handlers.push(stopped);
    }
    await withinDeadline(Promise.all(handlers), closeDeadlineMs, stillBusy).catch((late: SvcError) =>
      this.#inside.logger.warn({ err: late, identity: this.identity }, 'closed a connection whose handlers were busy'),
    );
    await this.#inside.inFlight.none((exchange) => exchange.concerns(this));
    this.#let('closed');
  }

  #let(state: 'lost' | 'closed'): void {
    const wasConnected = this.#connected;
    this.#connected = false;
    this.#state = state;
    const { routes, inFlight } = this.#inside;
    for (const listener of this.#listeners) {
      routes.remove(listener);
      if (state === 'closed' && listener.kind === 'subscriber') listener.end();
    }
    for (const consumer of this.#consumers) void consumer.stop();
    for (const undo of this.#backendOnly) undo();
    for (const exchange of inFlight.which((candidate) => candidate.concerns(this))) exchange.abandon(this);
    this.#inside.gone(this, wasConnected);
  }

  #tellWatchers(state: 'connected' | 'disconnected'): void {
    for (const watcher of this.#watchers) this.#inside.tell(() => watcher(state));
  }

  #join<Listener extends Subscriber | Responder>(listener: Listener): Listener {
    this.#listeners.add(listener);
    if (this.#connected) this.#inside.routes.add(listener);
    return listener;
  }

  #leave(listener: Subscriber | Responder): void {
    this.#listeners.delete(listener);
    this.#inside.routes.remove(listener);
  }

  #routeTo(subject: string): Route {
    this.#permit.checkMaySay(subject);
    return this.#inside.routes.find(subject);
  }

  #checkMayHear(pattern: string): void {
    this.#checkUsable();
    this.#permit.checkMayHear(pattern);
  }

  #checkUsable(): void {
    if (this.#state === 'closed') throw new SvcError('unavailable', 'The connection to the bus is closed.');
  }

  #checkBackend(what: string): void {
    this.#checkUsable();
    this.#permit.checkIsBackend(what);
  }

  #asBackend<Item>(what: string, items: Set<Own<Item>>, item: Item): Subscription {
    this.#checkBackend(what);
    const own = { item };
    items.add(own);
    const undo = () => {
      items.delete(own);
      this.#backendOnly.delete(undo);
    };
    this.#backendOnly.add(undo);
    return { stop: async () => undo() };
  }
}

function stillBusy(): SvcError {
  return new SvcError('timeout', `A handler did not finish within ${closeDeadlineMs} ms.`);
}

function noAnswerer(subject: string, full: number): SvcError {
  return full === 0
    ? new NobodyAnswers(subject)
    : new SvcError('rate_limited', `Whoever answers "${subject}" has as many requests under way as it accepts.`, {
        hint: 'Try again shortly.',
      });
}
