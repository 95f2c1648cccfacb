import { endOf } from '../../../contracts/bus/ends.ts';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { RuntimeId } from '../../../contracts/ids.ts';
import {
  type Authorizer,
  type Bucket,
  type BucketOptions,
  type Bus,
  type Responder as Handle,
  type Headers,
  type MeantConnections,
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
import { finishHandlers } from '../finish-handlers.ts';
import { Permit } from '../permit.ts';
import { checkMessageOf } from '../senders.ts';
import { Subscriber } from '../subscriber.ts';
import { Subscriptions } from '../subscriptions.ts';
import { Watchers } from '../watchers.ts';
import { Exchange, type ExchangeNeeds } from './exchange.ts';
import { leastBusy, Responder } from './responder.ts';
import type { Route, Routes } from './routes.ts';
import type { Storage } from './storage.ts';

/** The interface of the bus that a connection uses. */
export interface ConnectionNeeds extends ExchangeNeeds {
  readonly routes: Routes;
  readonly storage: Storage;
  readonly authorizers: Set<OwnAuthorizer>;
  readonly goneWatchers: Watchers<Identity>;
  readonly endRuntime: (runtime: RuntimeId, meant: MeantConnections) => void;
  readonly gone: (connection: Connection, wasConnected: boolean) => void;
}

/** A wrapper for each connection, because two may register the same function. */
export interface OwnAuthorizer {
  readonly authorizer: Authorizer;
}

/** `lost`: ended by the bus, which may admit it again. `closed`: closed for good. */
type State = 'open' | 'lost' | 'closing' | 'closed';

export class Connection implements Bus {
  readonly identity: Identity;
  readonly ownEnd: string;
  readonly #permit: Permit;
  readonly #inside: ConnectionNeeds;
  readonly #listeners = new Set<Subscriber | Responder>();
  readonly #consumers = new Subscriptions();
  readonly #watchers: Watchers<'connected' | 'disconnected'>;
  readonly #backendOnly = new Subscriptions();
  #state: State = 'open';
  #closing: Promise<void> | null = null;
  #connected = true;

  constructor(identity: Identity, inside: ConnectionNeeds) {
    this.identity = identity;
    this.ownEnd = endOf(identity);
    this.#permit = new Permit(identity);
    this.#inside = inside;
    this.#watchers = new Watchers(inside.turns, inside.logger);
  }

  get state(): State {
    return this.#state;
  }

  publish(subject: string, payload: Uint8Array, headers?: Headers): void {
    this.#checkUsable();
    const route = this.#routeTo(subject);
    checkMessageOf(this.identity, payload);
    // A refusal must not depend on who listens, so the message is checked and copied even without a listener.
    let message: Message | null = { subject, payload: copyPayload(payload), headers: copyHeaders(headers) };
    const own = () => {
      const next = message ?? { subject, payload: copyPayload(payload), headers: copyHeaders(headers) };
      message = null;
      return next;
    };
    if (!this.#connected || !this.#inside.senders.spend(this.ownEnd, 'message', payload.byteLength)) return;
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
        return this.#consumers.add(stream.consume(consumer, handle));
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
    return this.#watchers.add(listener);
  }

  authorize(authorizer: Authorizer): Subscription {
    this.#checkBackend('decide who connects');
    const { authorizers } = this.#inside;
    const own = { authorizer };
    authorizers.add(own);
    return this.#backendOnly.add({ stop: async () => void authorizers.delete(own) });
  }

  async disconnect(runtime: RuntimeId, meant: MeantConnections = {}): Promise<void> {
    this.#checkBackend('disconnect a runtime');
    this.#inside.endRuntime(runtime, meant);
  }

  onGone(listener: (identity: Identity) => void): Subscription {
    this.#checkBackend('hear who is gone');
    return this.#backendOnly.add(this.#inside.goneWatchers.add(listener));
  }

  /** The bus inside this process answers as long as the process does. */
  async beginClose(): Promise<void> {}

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** The bus ends the connection: its open requests fail at once. */
  end(state: 'lost' | 'closed'): void {
    if (this.#state === 'closed') return;
    this.#let(state);
    this.#watchers.tell('disconnected');
  }

  /** The bus admits a lost connection again, with all its subscriptions. */
  resume(): void {
    this.#state = 'open';
    this.#connected = true;
    for (const listener of this.#listeners) this.#inside.routes.add(listener);
    this.#watchers.tell('connected');
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closing';
    const { logger, inFlight } = this.#inside;
    await finishHandlers({ identity: this.identity, consumers: this.#consumers, listeners: this.#listeners, logger });
    await inFlight.none((exchange) => exchange.concerns(this));
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
    void this.#consumers.stop();
    void this.#backendOnly.stop();
    for (const exchange of inFlight.which((candidate) => candidate.concerns(this))) exchange.abandon(this);
    this.#inside.gone(this, wasConnected);
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
}

function noAnswerer(subject: string, full: number): SvcError {
  return full === 0
    ? new NobodyAnswers(subject)
    : new SvcError('rate_limited', `"${subject}" has reached its limit of concurrent requests.`, {
        hint: 'Try again shortly.',
      });
}
