import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { KeyId, RuntimeId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';

/**
 * The bus: how services meet. Engines: in-process, NATS. Payloads are bytes and are never shared: what a receiver gets is its own.
 * A payload may be up to `payloadMaxBytes`; engines cut it into frames as they need. Everything here is bounded and has a deadline.
 */
export interface Bus {
  /** Who this connection is, as the bus decided when it connected. */
  readonly identity: Identity;

  /** Tells whoever listens; nobody is fine. Throws `forbidden` or `too_large`. */
  publish(subject: string, payload: Uint8Array, headers?: Headers): void;

  /** Hears what is published. Messages are handled one after the other. */
  subscribe(
    pattern: string,
    handle: (message: Message) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Subscription;

  /**
   * Asks one listener and waits for its final reply; interim replies go to `onInterim` in order.
   * Fails with `unavailable` at once where nobody listens (NobodyAnswers) or the responder's connection ends (AnswererGone), `timeout` at
   * the deadline, `cancelled` when the signal aborts (the responder is told), or the error the responder threw.
   */
  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply>;

  /** Answers requests. The handler's promise is the final reply; what it throws reaches the asker as a typed error. */
  respond(pattern: string, handle: Responder, options?: RespondOptions): Subscription;

  /** A durable stream: what is acknowledged survives a crash (where the bus is persistent) and is delivered at least once. */
  stream(name: string): Stream;

  /** A key-value bucket whose keys expire `maxAgeMs` after their last put. */
  bucket(name: string, options: BucketOptions): Bucket;

  /** Called on every loss and return of the connection. A connection that the bus ended asks to be let in again by itself. */
  onConnection(listener: (state: 'connected' | 'disconnected') => void): Subscription;

  /** Decides who connects. The backend's connection only; answers in turn where several backends do. */
  authorize(authorizer: Authorizer): Subscription;

  /**
   * Ends connections of a runtime at once: all of them, or only those that are meant. The backend's connection only. Throws `unavailable` where
   * the bus does not carry it out in time, and goes on trying for a while.
   */
  disconnect(runtime: RuntimeId, meant?: MeantConnections): Promise<void>;

  /** Hears which clients' connections ended. The backend's connection only. */
  onGone(listener: (identity: Identity) => void): Subscription;

  /**
   * The first step of a stop. A connection that is lost, or whose bus does not answer within two seconds, ends here: everything that waits for
   * the bus fails at once. So does everything under way where the connection gets lost later.
   */
  beginClose(): Promise<void>;

  /** Finishes what is under way, within the deadline of each, then lets go. */
  close(): Promise<void>;
}

/** Which connections of a runtime are ended. */
export interface MeantConnections {
  /** Only those that came with this key. */
  readonly key?: KeyId;
  /** Every backend refuses the runtime for so long, with `rate_limited`. */
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
  /** Aborts when the asker cancels, its deadline passes, or its connection ends. */
  readonly signal: AbortSignal;
  /** Sends an interim reply, which also renews the asker's deadline. Resolves when more may be sent (flow control). */
  interim(payload: Uint8Array, headers?: Headers): Promise<void>;
}

export type Responder = (request: Request) => Promise<Reply>;

export interface RequestOptions {
  readonly headers?: Headers;
  /** Time without any reply after which the request fails; each interim reply starts it anew. */
  readonly timeoutMs: number;
  /** Time after which it fails whatever happens. Default: `timeoutMs`. */
  readonly timeoutMaxMs?: number;
  readonly signal?: AbortSignal;
  readonly onInterim?: (reply: Reply) => void;
}

export interface SubscribeOptions {
  /** Messages waiting to be handled, after which the oldest are dropped and counted. Default 10,000. */
  readonly pendingMax?: number;
}

export interface RespondOptions {
  /** One member of a group of that name answers each request. */
  readonly queue?: string;
  /** Requests under way at once, after which further ones are refused with `rate_limited`. Default 1,024. */
  readonly concurrencyMax?: number;
}

export interface Subscription {
  /** Hears nothing more; resolves when what is under way has finished, so that a handler must not wait for its own. */
  stop(): Promise<void>;
}

export interface Stream {
  /** Resolves when the record is stored. */
  append(payload: Uint8Array): Promise<void>;
  /**
   * Hands records to the consumers of that name in batches, oldest first, to each one batch at a time and each record to one of them; a
   * batch whose handler throws comes again.
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
  /** Writes whatever is there; returns the revision. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Writes only where the revision is the one given (0: where there is nothing); else `conflict`. */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
}

/** Seeds of the key pairs by which NATS knows the backend: as who decides on connections, as who sees and ends them, and as whose word counts. */
export interface BackendSeeds {
  readonly callout: Secret;
  readonly system: Secret;
  readonly issuer: Secret;
}

/** What a client shows when it connects. The backend's own credential is static; every other is checked by the backend. */
export type Credentials =
  /** Without seeds inside one process, where nobody else can say so. */
  | { readonly kind: 'backend'; readonly seeds?: BackendSeeds | undefined }
  | { readonly kind: 'system'; readonly key: Secret; readonly component: 'remote-mcp' }
  | { readonly kind: 'system'; readonly key: Secret; readonly component: 'runtime'; readonly runtimeName: string }
  | { readonly kind: 'runtime'; readonly key: Secret };

/** Answers who a connecting client is, under the process id that the bus derived for it; the backend provides it. Throws `unauthenticated` or `forbidden`. */
export type Authorizer = (credentials: Credentials, process: Identity['process']) => Promise<Identity>;

/** A request reached nobody, so it may be sent to another without being carried out twice. */
export class NobodyAnswers extends SvcError {
  constructor(subject: string) {
    super('unavailable', `Nobody answers "${subject}".`);
  }
}

/** A request reached somebody whose connection ended before the final reply, so it may have been carried out or not. */
export class AnswererGone extends SvcError {
  constructor(subject: string) {
    super('unavailable', `The connection that was answering "${subject}" has ended.`);
  }
}

export const payloadMaxBytes = 16 * 1024 * 1024;
export const frameMaxBytes = 512 * 1024;
/** All names and values of a message's headers together, in characters: a few ids and a trace, never data. */
export const headersMaxLength = 16 * 1024;

/** The bus inside one process: services connect to it as they would to a bus elsewhere. */
export interface Hub {
  /** The nonce tells processes with the same credential apart; a backend is known by it, and nobody else. */
  connect(credentials: Credentials, nonce: Identity['process']): Promise<Bus>;
  stop(): Promise<void>;
}
