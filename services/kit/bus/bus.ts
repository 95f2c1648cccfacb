import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { KeyId, RuntimeId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { CancelSignal } from '../cancellation.ts';

/**
 * The bus that connects the services. Payloads are bytes of up to `payloadMaxBytes`, and each receiver gets its own
 * copy. Every operation is bounded and has a deadline.
 */
export interface Bus {
  /** The identity of this connection, which the bus decided when it connected. */
  readonly identity: Identity;

  /** Sends to all listeners, also when there are none. Throws `forbidden` or `too_large`. */
  publish(subject: string, payload: Uint8Array, headers?: Headers): void;

  /** Receives published messages and handles one at a time. */
  subscribe(
    pattern: string,
    handle: (message: Message) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Subscription;

  /**
   * Sends a request to one listener and waits for its final reply; interim replies go to `onInterim` in order. Fails
   * with `unavailable` at once when there is no listener (`NobodyAnswers`) or the responder's connection ends
   * (`AnswererGone`).
   */
  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply>;

  /**
   * Answers requests. The handler's promise is the final reply; an error it throws reaches the caller as a typed error.
   */
  respond(pattern: string, handle: Responder, options?: RespondOptions): Subscription;

  /** A durable stream. An acknowledged record survives a crash (on a persistent bus) and is delivered at least once. */
  stream(name: string): Stream;

  /** A key-value bucket whose keys expire `maxAgeMs` after their last put. */
  bucket(name: string, options: BucketOptions): Bucket;

  /** Called on every loss and return of the connection. A connection that the bus ended reconnects by itself. */
  onConnection(listener: (state: 'connected' | 'disconnected') => void): Subscription;

  /** Decides which clients may connect. For the backend's connection only; several backends take turns. */
  authorize(authorizer: Authorizer): Subscription;

  /**
   * Ends connections of a runtime at once: all of them, or only the selected ones. For the backend's connection only.
   * Throws `unavailable` when the bus does not end them in time, and then keeps retrying for a while.
   */
  disconnect(runtime: RuntimeId, meant?: MeantConnections): Promise<void>;

  /** Reports the clients whose connections ended. For the backend's connection only. */
  onGone(listener: (identity: Identity) => void): Subscription;

  /**
   * The first step of a stop. A connection that is lost, or whose bus does not answer within two seconds, ends here.
   * Then everything that waits for the bus fails at once, and likewise if the connection is lost later.
   */
  beginClose(): Promise<void>;

  /** Finishes open requests, within the deadline of each, then closes. */
  close(): Promise<void>;
}

/** Selects which connections of a runtime are ended. */
export interface MeantConnections {
  /** Only connections that were opened with this key. */
  readonly key?: KeyId;
  /** Every backend refuses the runtime for this long, with `rate_limited`. */
  readonly refusedMs?: number;
}

export type Headers = Readonly<Record<string, string>>;

export interface Message {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Headers;
}

export interface Reply {
  readonly payload: Uint8Array;
  readonly headers: Headers;
}

export interface Request extends Message {
  /** Aborts when the caller cancels, its deadline passes, or its connection ends. */
  readonly signal: CancelSignal;
  /** Sends an interim reply, which also renews the caller's deadline. Resolves when more may be sent (flow control). */
  interim(payload: Uint8Array, headers?: Headers): Promise<void>;
}

export type Responder = (request: Request) => Promise<Reply>;

export interface RequestOptions {
  readonly headers?: Headers;
  /** Time without any reply after which the request fails; each interim reply starts it again. */
  readonly timeoutMs: number;
  /** Time after which the request fails in any case. Default: `timeoutMs`. */
  readonly timeoutMaxMs?: number;
  readonly signal?: CancelSignal;
  readonly onInterim?: (reply: Reply) => void;
}

export interface SubscribeOptions {
  /** Messages waiting to be handled, after which the oldest are dropped and counted. Default 10,000. */
  readonly pendingMax?: number;
}

export interface RespondOptions {
  /** One member of the group with this name answers each request. */
  readonly queue?: string;
  /** Concurrent requests, after which further ones are refused with `rate_limited`. Default 1,024. */
  readonly concurrencyMax?: number;
}

export interface Subscription {
  /** Stops receiving; resolves when running handlers have finished. A handler must not wait for its own subscription. */
  stop(): Promise<void>;
}

export interface Stream {
  /** Resolves when the record is stored. */
  append(payload: Uint8Array): Promise<void>;
  /**
   * Delivers records to the consumers of that name in batches, oldest first. Each record goes to one of them; a batch
   * whose handler throws is delivered again.
   */
  consume(consumer: string, handle: (batch: readonly Uint8Array[]) => Promise<void>): Subscription;
}

export interface BucketOptions {
  readonly maxAgeMs: number;
}

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
}

export interface Bucket {
  get(key: string): Promise<Entry | null>;
  /** Writes unconditionally; returns the revision. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Writes only at the given revision (0: the key does not exist); otherwise throws `conflict`. */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
}

/**
 * Seeds of the key pairs that prove a backend to NATS: as authorizer of connections, as administrator of the
 * connections, and as issuer of admissions.
 */
export interface BackendSeeds {
  readonly callout: Secret;
  readonly system: Secret;
  readonly issuer: Secret;
}

/**
 * The credential a client shows when it connects. The backend's own credential is static; the backend checks all
 * others.
 */
export type Credentials =
  /** Inside one process it has no seeds, because only the backend can claim this there. */
  | { readonly kind: 'backend'; readonly seeds?: BackendSeeds | undefined }
  | { readonly kind: 'system'; readonly key: Secret; readonly component: 'remote-mcp' }
  | { readonly kind: 'system'; readonly key: Secret; readonly component: 'runtime'; readonly runtimeName: string }
  | { readonly kind: 'runtime'; readonly key: Secret };

/**
 * Returns the identity of a connecting client, under the process id that the bus derived for it. The backend provides
 * this function. Throws `unauthenticated` or `forbidden`.
 */
export type Authorizer = (credentials: Credentials, process: Identity['process']) => Promise<Identity>;

/** No listener accepted the request, so it may be sent to another one without being carried out twice. */
export class NobodyAnswers extends SvcError {
  constructor(subject: string) {
    super('unavailable', `No service answers "${subject}".`);
  }
}

/** The responder's connection ended before its final reply, so the request may or may not have been carried out. */
export class AnswererGone extends SvcError {
  constructor(subject: string) {
    super('unavailable', `The connection that was answering "${subject}" has ended.`);
  }
}

export const payloadMaxBytes = 16 * 1024 * 1024;
export const frameMaxBytes = 512 * 1024;
/**
 * Largest size of all header names and values of a message, in characters: room for a few ids and a trace, not for
 * data.
 */
export const headersMaxLength = 16 * 1024;

/** The bus inside one process. Services connect to it as they would to a remote bus. */
export interface Hub {
  /** The nonce distinguishes processes with the same credential. For a backend it is also the process id. */
  connect(credentials: Credentials, nonce: Identity['process']): Promise<Bus>;
  stop(): Promise<void>;
}
