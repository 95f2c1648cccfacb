import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { anyBackend, endOf, endsOf } from '../../../contracts/bus/ends.ts';
import { allows, type Identity, type Permissions, permissionsOf } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { type KeyId, type RuntimeId, randomText } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import { withBugReported } from '../../report-bug.ts';
import type {
  Authorizer,
  Bucket,
  BucketOptions,
  Bus,
  Headers,
  Message,
  Reply,
  RequestOptions,
  Responder,
  RespondOptions,
  Stream,
  SubscribeOptions,
  Subscription,
} from '../bus.ts';
import { checkPattern, checkSubject } from '../check-subject.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { withinDeadline } from '../deadline.ts';
import { InFlight } from '../in-flight.ts';
import { Subscriber } from '../subscriber.ts';
import { Turns } from '../turns.ts';
import { Answering } from './answering.ts';
import { Asking, type Wire } from './asking.ts';
import type { BackendAccounts } from './backend-accounts.ts';
import { NatsBucket } from './bucket.ts';
import { framesOf, readFrame, saysNobodyListens, toNatsHeaders } from './frame.ts';
import { gonePatterns } from './grants.ts';
import { findIdentity, nameOf } from './known-as.ts';
import { Listener } from './listener.ts';
import { MessageAssembly } from './message-assembly.ts';
import { NatsStream } from './stream.ts';
import { goneSubject, readControlSubject, readReplySubject } from './subjects.ts';

export interface NatsBusOptions {
  readonly identity: Identity;
  readonly connection: NatsConnection;
  /** Where streams and buckets are kept: on disk, or in the memory of the bus. */
  readonly persistent: boolean;
  readonly logger: Logger;
  /** The backend's other two accounts; null for everybody else. */
  readonly accounts: BackendAccounts | null;
}

type State = 'open' | 'closing' | 'closed';

/** Subjects whose permission is remembered. */
const permittedMax = 20_000;
/** A handler of messages that is still busy when its connection closes is waited for this long. */
const closeDeadlineMs = 10_000;

/** The bus on NATS, as one connection to it. */
export class NatsBus implements Bus {
  readonly identity: Identity;
  readonly #connection: NatsConnection;
  readonly #permissions: Permissions;
  readonly #persistent: boolean;
  readonly #logger: Logger;
  readonly #accounts: BackendAccounts | null;
  readonly #own: string;
  readonly #turns = new Turns();
  readonly #wire: Wire;
  readonly #asking = new InFlight<Asking>();
  readonly #asked = new Map<string, Asking>();
  readonly #answering = new InFlight<Answering>();
  readonly #answers = new Map<string, Answering>();
  readonly #listeners = new Set<Subscription>();
  readonly #consumers = new Set<Subscription>();
  readonly #watchers = new Set<(state: 'connected' | 'disconnected') => void>();
  readonly #goneListeners = new Set<{ readonly listener: (identity: Identity) => void }>();
  readonly #maySay = new Set<string>();
  /** Ids of requests are nobody's to guess. */
  readonly #ids = randomText(6);
  #lastId = 0;
  #state: State = 'open';
  #connected = true;
  #closing: Promise<void> | null = null;

  constructor({ identity, connection, persistent, logger, accounts }: NatsBusOptions) {
    this.identity = identity;
    this.#connection = connection;
    this.#permissions = permissionsOf(identity);
    this.#persistent = persistent;
    this.#logger = logger;
    this.#accounts = accounts;
    this.#own = endOf(identity);
    this.#wire = {
      own: this.#own,
      logger,
      send: (subject, frame, reply) => {
        if (!this.#connected) return;
        const headers = toNatsHeaders(frame);
        this.#connection.publish(subject, frame.payload, {
          ...(headers === undefined ? {} : { headers }),
          ...(reply === undefined ? {} : { reply }),
        });
      },
    };
    this.#listen(`_R.${this.#own}.*.*`, (message) => this.#hearReply(message));
    const answersAs = identity.kind === 'backend' ? anyBackend : this.#own;
    if (identity.kind !== 'remote-mcp') this.#listen(`_C.${answersAs}.*.*`, (message) => this.#hearControl(message));
    for (const pattern of gonePatterns(identity)) this.#listen(pattern, (message) => this.#hearGone(message));
    accounts?.system.onGone((gone) => this.#tellGone(gone));
  }

  publish(subject: string, payload: Uint8Array, headers?: Headers): void {
    this.#checkUsable();
    this.#checkMaySay(subject);
    const id = this.#nextId();
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
      const whole = assembly.take(message);
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

  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#checkUsable();
      this.#checkMaySay(subject);
      this.#checkConnected();
      if (options.signal?.aborted) throw new SvcError('cancelled', 'The request was cancelled.');
      const answerer = endsOf(subject).answerer ?? 'nobody';
      const id = this.#nextId();
      const asking = new Asking({ id, subject, answerer, payload, options, resolve, reject }, this.#wire, (ended) => {
        this.#asked.delete(id);
        this.#asking.done(ended);
      });
      this.#asked.set(id, asking);
      this.#asking.begin(asking);
    });
  }

  respond(pattern: string, handle: Responder, options: RespondOptions = {}): Subscription {
    this.#checkMayHear(pattern);
    const listener: Listener = new Listener(handle, options, () => {
      this.#listeners.delete(listener);
      heard.unsubscribe();
      return this.#answering.none((answering) => answering.isAnsweredBy(listener));
    });
    const heard = this.#listen(
      pattern,
      (message) => this.#hearQuestion(message, listener),
      options.queue === undefined ? {} : { queue: options.queue },
    );
    this.#listeners.add(listener);
    return listener;
  }

  stream(name: string): Stream {
    if (!this.#permissions.streams.includes(name)) throw this.#forbidden(`use the stream "${name}"`);
    const stream = this.natsStream(name);
    return {
      append: (payload) => stream.append(payload),
      consume: (consumer, handle) => {
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

  natsStream(name: string): NatsStream {
    const checkUsable = () => this.#checkUsable();
    return new NatsStream(name, {
      ...{ connection: this.#connection, persistent: this.#persistent, logger: this.#logger, checkUsable },
    });
  }

  bucket(name: string, { maxAgeMs }: BucketOptions): Bucket {
    if (!this.#permissions.buckets.includes(name)) throw this.#forbidden(`use the bucket "${name}"`);
    const checkUsable = () => this.#checkUsable();
    return new NatsBucket(name, maxAgeMs, { connection: this.#connection, persistent: this.#persistent, checkUsable });
  }

  onConnection(listener: (state: 'connected' | 'disconnected') => void): Subscription {
    this.#watchers.add(listener);
    return { stop: async () => void this.#watchers.delete(listener) };
  }

  authorize(authorizer: Authorizer): Subscription {
    return this.#backendAccounts('decide who connects').callout.authorize(authorizer);
  }

  async disconnect(runtime: RuntimeId, key?: KeyId): Promise<void> {
    const isMeant = (identity: Identity) =>
      identity.kind === 'runtime' && identity.runtime === runtime && (key === undefined || identity.key === key);
    await this.#backendAccounts('disconnect a runtime').system.end(isMeant);
  }

  onGone(listener: (identity: Identity) => void): Subscription {
    this.#backendAccounts('hear who is gone');
    const own = { listener };
    this.#goneListeners.add(own);
    return { stop: async () => void this.#goneListeners.delete(own) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** What was said so far has reached the bus. */
  async flush(): Promise<void> {
    await this.#connection.flush();
  }

  /** The connection is lost: what is in flight fails at once. */
  lost(): void {
    if (!this.#connected) return;
    this.#connected = false;
    for (const asking of this.#asking.which(() => true)) asking.abandon();
    for (const answering of this.#answering.which(() => true)) answering.abandon();
    this.#tellWatchers('disconnected');
  }

  /** The connection is back, with all that it listened to. */
  returned(): void {
    if (this.#connected || this.#state === 'closed') return;
    this.#connected = true;
    this.#tellWatchers('connected');
  }

  async #finish(): Promise<void> {
    this.#state = 'closing';
    const handlers = [...this.#consumers].map((consumer) => consumer.stop());
    for (const listener of this.#listeners) {
      const stopped = listener.stop();
      // Requests have deadlines of their own, handlers of messages have none.
      if (listener instanceof Subscriber) handlers.push(stopped);
    }
    await withinDeadline(Promise.all(handlers), closeDeadlineMs, stillBusy).catch((late: SvcError) =>
      this.#logger.warn({ err: late, identity: this.identity }, 'closed a connection whose handlers were busy'),
    );
    await Promise.all([this.#asking.none(() => true), this.#answering.none(() => true)]);
    this.#state = 'closed';
    if (this.#connected) await withinDeadline(this.#connection.flush(), closeDeadlineMs, stillBusy).catch(() => {});
    this.#connected = false;
    await this.#accounts?.close();
    await this.#connection.close();
  }

  #hearReply(message: Msg): void {
    const asking = this.#asked.get(readReplySubject(message.subject)?.id ?? '');
    if (asking === undefined) return;
    if (saysNobodyListens(message)) asking.hearNobody();
    else {
      const frame = readFrame(message);
      if (frame !== null) asking.hear(frame);
    }
  }

  #hearQuestion(message: Msg, listener: Listener): void {
    const { subject, reply = '' } = message;
    const frame = readFrame(message);
    const ends = readReplySubject(reply);
    const expected = endsOf(subject);
    // Whoever asks can name any reply, and must name its own: else our answer would be heard as one to somebody else's question.
    if (frame?.kind !== 'question' || ends === null || ends.answerer !== expected.answerer) return;
    if (expected.asker !== null && expected.asker !== ends.asker) return;
    if (this.#answers.has(reply)) return;
    const answering = new Answering({ subject, reply, asker: ends.asker }, listener, this.#wire, (ended) => {
      this.#answers.delete(reply);
      this.#answering.done(ended);
    });
    this.#answers.set(reply, answering);
    this.#answering.begin(answering);
    if (listener.begin()) answering.hear(frame);
    else answering.refuse();
  }

  #hearControl(message: Msg): void {
    const ends = readControlSubject(message.subject);
    const frame = readFrame(message);
    if (ends === null || frame === null) return;
    this.#answers.get(`_R.${ends.asker}.${ends.answerer}.${ends.id}`)?.hear(frame);
  }

  /** One backend hears it of NATS, and tells all whom it may concern. */
  #tellGone(identity: Identity): void {
    if (!this.#connected) return;
    this.#connection.publish(goneSubject(identity.kind, endOf(identity)), nameOf(identity));
  }

  #hearGone(message: Msg): void {
    const end = message.subject.split('.').at(-1) ?? '';
    for (const asking of this.#asking.which((one) => one.isAnsweredBy(end))) asking.answererGone();
    for (const answering of this.#answering.which((one) => one.isAskedBy(end))) answering.abandon();
    const identity = findIdentity(message.string());
    if (identity === null) return;
    for (const { listener } of this.#goneListeners) this.#tell(() => listener(identity));
  }

  #listen(pattern: string, hear: (message: Msg) => void, options: { readonly queue?: string } = {}) {
    return this.#connection.subscribe(pattern, {
      ...options,
      callback: (error, message) => {
        if (error === null) hear(message);
        else this.#logger.error({ err: error, pattern }, 'lost a subscription');
      },
    });
  }

  #tellWatchers(state: 'connected' | 'disconnected'): void {
    for (const watcher of this.#watchers) this.#tell(() => watcher(state));
  }

  /** What a listener throws is a bug of its own. */
  #tell(listener: () => void): void {
    this.#turns.later({
      run: () => {
        try {
          listener();
        } catch (thrown) {
          withBugReported(thrown, this.#logger);
        }
      },
    });
  }

  #nextId(): string {
    return `${this.#ids}${(++this.#lastId).toString(36)}`;
  }

  #checkMaySay(subject: string): void {
    if (this.#maySay.has(subject)) return;
    checkSubject(subject);
    if (!allows(this.#permissions.publish, subject)) throw this.#forbidden(`send to "${subject}"`);
    if (this.#maySay.size >= permittedMax) this.#maySay.clear();
    this.#maySay.add(subject);
  }

  #checkMayHear(pattern: string): void {
    this.#checkUsable();
    checkPattern(pattern);
    if (!allows(this.#permissions.subscribe, pattern)) throw this.#forbidden(`listen to "${pattern}"`);
  }

  #checkUsable(): void {
    if (this.#state === 'closed') throw new SvcError('unavailable', 'The connection to the bus is closed.');
  }

  #checkConnected(): void {
    if (!this.#connected) throw new SvcError('unavailable', 'The connection to the bus is lost.');
  }

  #backendAccounts(what: string): BackendAccounts {
    this.#checkUsable();
    if (this.#accounts === null) throw this.#forbidden(what);
    return this.#accounts;
  }

  #forbidden(what: string): SvcError {
    return new SvcError('forbidden', `A ${this.identity.kind} may not ${what} on the bus.`);
  }
}

function stillBusy(): SvcError {
  return new SvcError('timeout', `A handler did not finish within ${closeDeadlineMs} ms.`);
}
