import type { Msg, NatsConnection } from '@nats-io/transport-node';
import {
  anyBackend,
  endOf,
  findRuntimeProcess,
  type RuntimeProcessName,
  runtimeEndIn,
} from '../../../contracts/bus/ends.ts';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { RuntimeId } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import type {
  Authorizer,
  Bucket,
  BucketOptions,
  Bus,
  Headers,
  MeantConnections,
  Message,
  Reply,
  RequestOptions,
  Responder,
  RespondOptions,
  Stream,
  SubscribeOptions,
  Subscription,
} from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { withinDeadline } from '../deadline.ts';
import { finishHandlers } from '../finish-handlers.ts';
import { isMeant } from '../meant.ts';
import type { Penalty } from '../penalties.ts';
import { Permit } from '../permit.ts';
import { checkMessageOf, refusedMs, runtimeMessageMaxBytes, Senders } from '../senders.ts';
import { Subscriber } from '../subscriber.ts';
import { Subscriptions } from '../subscriptions.ts';
import { Turns } from '../turns.ts';
import { Watchers } from '../watchers.ts';
import type { BackendAccounts } from './backend-accounts.ts';
import { NatsBucket } from './bucket.ts';
import { findIdentity, nameOf } from './connection-name.ts';
import { isClustered } from './election.ts';
import { Exchanges, nobody } from './exchanges.ts';
import { type Frame, framesOf, goneHeaders, goneId, readFrame, sizeOf } from './frame.ts';
import { gonePatterns } from './grants.ts';
import type { NatsPlace } from './kept.ts';
import { listen } from './listen.ts';
import { Listener } from './listener.ts';
import { MessageAssembly } from './message-assembly.ts';
import { Outbox } from './outbox.ts';
import type { Wire } from './outgoing-exchange.ts';
import { Recent } from './recent.ts';
import { NatsStream } from './stream.ts';
import { goneSubject, offencePattern, offenceSubject, penaltySubject, replySubject } from './subjects.ts';
import { Unfinished } from './unfinished.ts';

export interface NatsBusOptions {
  readonly identity: Identity;
  readonly connection: NatsConnection;
  /** Whether streams and buckets are on disk or in the memory of the bus. */
  readonly persistent: boolean;
  readonly logger: Logger;
  /** The backend's other two accounts; null for every other service. */
  readonly accounts: BackendAccounts | null;
}

type State = 'open' | 'closing' | 'closed';

/** A healthy bus answers within milliseconds. A service that stops waits no longer for a bus that is silent. */
const answerDeadlineMs = 2000;

/** The bus on NATS, as one connection to it. */
export class NatsBus implements Bus {
  readonly identity: Identity;
  readonly #connection: NatsConnection;
  readonly #permit: Permit;
  readonly #persistent: boolean;
  readonly #logger: Logger;
  readonly #accounts: BackendAccounts | null;
  readonly #turns = new Turns();
  readonly #outbox: Outbox;
  readonly #wire: Wire;
  readonly #senders: Senders;
  readonly #exchanges: Exchanges;
  readonly #listeners = new Set<Subscription>();
  readonly #consumers = new Subscriptions();
  readonly #watchers: Watchers<'connected' | 'disconnected'>;
  readonly #goneWatchers: Watchers<Identity>;
  readonly #goneHeard = new Recent();
  #hearsReplies = false;
  #state: State = 'open';
  #connected = true;
  #isLeaving = false;
  #closing: Promise<void> | null = null;

  constructor({ identity, connection, persistent, logger, accounts }: NatsBusOptions) {
    this.identity = identity;
    this.#connection = connection;
    this.#permit = new Permit(identity);
    this.#persistent = persistent;
    this.#logger = logger;
    this.#accounts = accounts;
    this.#outbox = new Outbox(connection);
    this.#watchers = new Watchers(this.#turns, logger);
    this.#goneWatchers = new Watchers(this.#turns, logger);
    const own = endOf(identity);
    this.#wire = {
      own,
      logger,
      turn: () => this.#outbox.emptied,
      send: (subject, frame, reply) => {
        if (this.#connected) this.#outbox.put(subject, frame, reply);
      },
    };
    this.#senders = new Senders({ logger, close: (sender) => this.#tellOffence(sender) });
    const unfinished = new Unfinished((runtime) => accounts?.callout.connections.workspaceOf(runtime));
    this.#exchanges = new Exchanges(this.#wire, this.#senders, unfinished);
    const answersAs = identity.kind === 'backend' ? anyBackend : own;
    if (identity.kind !== 'remote-mcp') {
      this.#listen(`_C.${answersAs}.*.*`, (message) => this.#exchanges.hearControl(message));
    }
    for (const pattern of gonePatterns(identity)) this.#listen(pattern, (message) => this.#hearGone(message));
    if (accounts !== null) {
      const { penalties } = accounts.callout;
      this.#listen(penaltySubject, (message) => penalties.add(message.json()));
      this.#listen(offencePattern, (message) => this.#hearOffence(message), { queue: 'backend' });
    }
    accounts?.system.onGone((gone, id) => this.#tellGone(gone, id));
    // With a single server, its end ends every connection. In a cluster, a dead server reports none of its clients.
    if (isClustered(connection)) accounts?.callout.onAdmission((admitted) => this.#tellGone(admitted));
  }

  publish(subject: string, payload: Uint8Array, headers?: Headers): void {
    this.#checkUsable();
    this.#permit.checkMaySay(subject);
    checkMessageOf(this.identity, payload);
    const id = this.#exchanges.nextId();
    for (const frame of framesOf('message', copyPayload(payload), copyHeaders(headers), id)) {
      this.#wire.send(subject, frame);
    }
  }

  subscribe(
    pattern: string,
    handle: (message: Message) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Subscription {
    this.#checkMayHear(pattern);
    const assembly = new MessageAssembly();
    const heard = this.#listen(pattern, (message) => {
      const frame = this.#readPublished(message);
      const whole = frame === null ? null : assembly.take(message.subject, frame);
      if (whole !== null) subscriber.hear(whole);
    });
    const subscriber: Subscriber = new Subscriber(pattern, handle, options, {
      ...{ turns: this.#turns, logger: this.#logger },
      leave: () => {
        this.#listeners.delete(subscriber);
        heard.unsubscribe();
      },
    });
    this.#listeners.add(subscriber);
    return subscriber;
  }

  async request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply> {
    this.#checkUsable();
    this.#permit.checkMaySay(subject);
    if (!this.#connected) throw new SvcError('unavailable', 'The connection to the bus is lost.');
    this.#hearReplies();
    return await this.#exchanges.ask(subject, payload, options);
  }

  respond(pattern: string, handle: Responder, options: RespondOptions = {}): Subscription {
    this.#checkMayHear(pattern);
    const listener: Listener = new Listener(handle, options, () => {
      this.#listeners.delete(listener);
      heard.unsubscribe();
      return this.#exchanges.noneAnsweredBy(listener);
    });
    const heard = this.#listen(
      pattern,
      (message) => this.#exchanges.hearQuestion(message, listener),
      options.queue === undefined ? {} : { queue: options.queue },
    );
    this.#listeners.add(listener);
    return listener;
  }

  stream(name: string): Stream {
    this.#permit.checkMayUseStream(name);
    const stream = this.natsStream(name);
    return {
      append: (payload) => stream.append(payload),
      consume: (consumer, handle) => this.#consumers.add(stream.consume(consumer, handle)),
    };
  }

  natsStream(name: string): NatsStream {
    return new NatsStream(name, { ...this.place(), persistent: this.#persistent, logger: this.#logger });
  }

  bucket(name: string, { maxAgeMs }: BucketOptions): Bucket {
    this.#permit.checkMayUseBucket(name);
    return new NatsBucket(name, maxAgeMs, { ...this.place(), persistent: this.#persistent });
  }

  /** The connection for the bus's storage in JetStream. */
  place(): NatsPlace {
    return { connection: this.#connection, checkUsable: () => this.#checkUsable() };
  }

  onConnection(listener: (state: 'connected' | 'disconnected') => void): Subscription {
    return this.#watchers.add(listener);
  }

  authorize(authorizer: Authorizer): Subscription {
    return this.#backendAccounts('decide who connects').callout.authorize(authorizer);
  }

  async disconnect(runtime: RuntimeId, meant: MeantConnections = {}): Promise<void> {
    const { callout, system } = this.#backendAccounts('disconnect a runtime');
    const { refusedMs } = meant;
    if (refusedMs !== undefined) {
      const penalty: Penalty = { runtime, refusedMs };
      callout.penalties.add(penalty);
      // NATS asks any of the backends whether the runtime may return.
      if (this.#connected) this.#connection.publish(penaltySubject, JSON.stringify(penalty));
    }
    await system.end((identity) => isMeant(identity, runtime, meant));
  }

  onGone(listener: (identity: Identity) => void): Subscription {
    this.#backendAccounts('hear who is gone');
    return this.#goneWatchers.add(listener);
  }

  async beginClose(): Promise<void> {
    this.#isLeaving = true;
    if (this.#connected) await this.#flushSoon().catch(() => this.lost());
    else await this.#closeConnections();
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** Resolves when everything sent so far has reached the bus. */
  async flush(): Promise<void> {
    this.#outbox.empty();
    await this.#connection.flush();
  }

  /** The connection is lost: its open requests fail at once. */
  lost(): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.#outbox.clear();
    this.#exchanges.abandon();
    this.#watchers.tell('disconnected');
    // Requests to JetStream wait for their answers until the connection is closed.
    if (this.#isLeaving) void this.#closeConnections();
  }

  /** The connection is back, with all its subscriptions. */
  returned(): void {
    if (this.#connected || this.#state === 'closed') return;
    this.#connected = true;
    if (this.#accounts !== null && isClustered(this.#connection)) this.#tellGone(this.identity);
    this.#watchers.tell('connected');
  }

  async #finish(): Promise<void> {
    this.#state = 'closing';
    await this.beginClose();
    const [consumers, listeners] = [this.#consumers, this.#listeners];
    await finishHandlers({ identity: this.identity, consumers, listeners, logger: this.#logger });
    await this.#exchanges.none();
    this.#state = 'closed';
    if (this.#connected) await this.#flushSoon().catch(() => {});
    this.#connected = false;
    await this.#closeConnections();
  }

  #flushSoon(): Promise<void> {
    // The client library never settles a flush of a closed connection.
    const flushed = Promise.race([this.flush(), this.#connection.closed()]).then(() => undefined);
    return withinDeadline(flushed, answerDeadlineMs, notTaken);
  }

  async #closeConnections(): Promise<void> {
    await Promise.all([this.#accounts?.close(), this.#connection.close()]);
  }

  /** Every backend receives this report from NATS and passes it to the clients concerned. */
  #tellGone(identity: Identity, id = this.#exchanges.nextId()): void {
    if (!this.#connected) return;
    this.#connection.publish(goneSubject(identity.kind, endOf(identity)), nameOf(identity), {
      headers: goneHeaders(id),
    });
  }

  #hearGone(message: Msg): void {
    if (!this.#goneHeard.isNew(goneId(message))) return;
    this.#exchanges.hearGone(message.subject.split('.').at(-1) ?? '');
    const identity = findIdentity(message.string());
    if (identity !== null) this.#goneWatchers.tell(identity);
  }

  /**
   * Null when the message is not ours or its sender exceeds its allowance, which is checked before the message is read.
   */
  #readPublished(message: Msg): Frame | null {
    const runtime = runtimeEndIn(message.subject);
    if (runtime !== null && !this.#senders.spend(runtime, 'message', sizeOf(message))) return null;
    const frame = readFrame(message);
    if (frame?.kind !== 'message') return null;
    if (runtime === null || (!frame.more && frame.payload.byteLength <= runtimeMessageMaxBytes)) return frame;
    this.#senders.spend(runtime, 'stray', sizeOf(message));
    return null;
  }

  /**
   * Any runtime may send replies here. A connection without requests subscribes to none, and a runtime only to those of
   * backends: others cannot flood it.
   */
  #hearReplies(): void {
    if (this.#hearsReplies) return;
    this.#hearsReplies = true;
    for (const answerer of this.identity.kind === 'runtime' ? [anyBackend, nobody] : ['*']) {
      const pattern = replySubject({ answerer, asker: this.#wire.own, id: '*' });
      this.#listen(pattern, (message) => this.#exchanges.hearReply(message));
    }
  }

  /** A backend ends the runtime's connections, once for each penalty. A remote-mcp asks the backends to do it. */
  #tellOffence({ runtime, process }: RuntimeProcessName): void {
    if (this.#accounts !== null) {
      if (this.#accounts.callout.penalties.leftMs(runtime) > 0) return;
      this.disconnect(runtime, { refusedMs }).catch((error: unknown) =>
        this.#logger.warn({ err: error, runtime, process }, 'failed to end the connections of a runtime'),
      );
    } else if (this.#connected) {
      this.#connection.publish(offenceSubject(this.#wire.own), `${runtime}-${process}`);
    }
  }

  /** Only remote-mcps may report offences. */
  #hearOffence(message: Msg): void {
    const offender = findRuntimeProcess(message.string());
    if (offender !== null) this.#tellOffence(offender);
  }

  #listen(pattern: string, hear: (message: Msg) => void, options: { readonly queue?: string } = {}) {
    return listen({ connection: this.#connection, pattern, hear, logger: this.#logger, ...options });
  }

  #checkMayHear(pattern: string): void {
    this.#checkUsable();
    this.#permit.checkMayHear(pattern);
  }

  #checkUsable(): void {
    if (this.#state === 'closed') throw new SvcError('unavailable', 'The connection to the bus is closed.');
  }

  #backendAccounts(what: string): BackendAccounts {
    this.#checkUsable();
    this.#permit.checkIsBackend(what);
    if (this.#accounts === null) throw new Error('a backend without its accounts');
    return this.#accounts;
  }
}

function notTaken(): SvcError {
  return new SvcError('timeout', `The bus did not accept the messages within ${answerDeadlineMs} ms.`);
}
