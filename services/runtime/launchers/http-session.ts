import type { IncomingMessage } from 'node:http';
import type { Reason } from '../../contracts/bus/messages.ts';
import { isObject } from '../../contracts/is-object.ts';
import { writeNotification } from '../wire/write-message.ts';
import { explainRefusal } from './explain-http.ts';
import { discard, quoteBody, readMessages } from './http-body.ts';
import type { HttpEndpoint, Terms } from './http-endpoint.ts';
import { isSuccess } from './http-status.ts';

export interface SessionOptions {
  readonly endpoint: HttpEndpoint;
  /** Called with each refusal. */
  readonly onRefusal: (status: number, said: string) => void;
  /** Deadline of a whole renewal: calls wait for it, and each has its own deadline. */
  readonly renewalMaxMs: number;
  readonly signal: AbortSignal;
  readonly onRenewed: () => void;
  /** The renewal failed: only a new start helps. */
  readonly onLost: (reason: Reason) => void;
}

/** The session with an MCP server over HTTP (MCP 2025-11-25, "Session Management"). */
export class HttpSession {
  readonly #options: SessionOptions;
  #terms: Terms = { session: null, revision: null };
  #ready: Promise<Terms> = Promise.resolve(this.#terms);
  #initialize: Buffer | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get terms(): Terms {
    return this.#terms;
  }

  /** Every message waits for this and uses these terms, so that none overtakes a handshake. Never rejects. */
  get ready(): Promise<Terms> {
    return this.#ready;
  }

  /** Sends `initialize`; a renewal sends the same again. */
  begin(initialize: Buffer): void {
    this.#initialize = initialize;
  }

  /** The answer to `initialize` has begun. */
  open(response: IncomingMessage): Terms {
    this.#terms = termsOf(response);
    this.#ready = Promise.resolve(this.#terms);
    return this.#terms;
  }

  /** Reads a message of that answer. */
  learn(message: Buffer): void {
    this.#terms.revision ??= revisionIn(message);
  }

  /** The handshake ends once `initialized` is sent. */
  readyAfter(initialized: Promise<void>): void {
    this.#ready = initialized.then(() => this.#terms);
  }

  /**
   * Resolves when the session with these terms, which the MCP server has forgotten, is replaced: once for all callers.
   */
  renewedSince(forgotten: Terms): Promise<Terms> {
    if (this.#terms === forgotten && this.#initialize !== null) this.#ready = this.#renew(this.#initialize);
    return this.#ready;
  }

  async #renew(initialize: Buffer): Promise<Terms> {
    const { endpoint, renewalMaxMs, onRenewed, onLost } = this.#options;
    const { revision } = this.#terms;
    this.#terms = { session: null, revision: null };
    const deadline = AbortSignal.timeout(renewalMaxMs);
    const signal = AbortSignal.any([this.#options.signal, deadline]);
    try {
      const reason = await this.#shakeHands(initialize, revision, signal);
      if (reason === null) onRenewed();
      else onLost(reason);
    } catch (error) {
      const { host } = endpoint;
      const late = deadline.aborted ? notRenewed(host, `no answer within ${renewalMaxMs / 1000} seconds`) : null;
      onLost(late ?? endpoint.explain(error) ?? notRenewed(host, 'the connection broke'));
    }
    return this.#terms;
  }

  /** Null on success. */
  async #shakeHands(initialize: Buffer, revision: string | null, signal: AbortSignal): Promise<Reason | null> {
    const { endpoint } = this.#options;
    const greeting = await endpoint.request({ method: 'POST', body: initialize, terms: this.#terms, signal });
    if (!isSuccess(greeting.statusCode ?? 0)) return this.#refusal(greeting);
    const terms = termsOf(greeting);
    await readTerms(greeting, terms);
    // Another revision or an error needs a new start.
    if (terms.revision !== revision) return notRenewed(endpoint.host, 'the handshake ended differently than before');
    this.#terms = terms;
    const body = writeNotification('notifications/initialized');
    // The status is ignored, as at the start: the next request shows whether the session works.
    discard(await endpoint.request({ method: 'POST', body, terms, signal }));
    return null;
  }

  async #refusal(response: IncomingMessage): Promise<Reason> {
    const { endpoint, onRefusal } = this.#options;
    const { statusCode: status = 0 } = response;
    onRefusal(status, await quoteBody(response));
    return explainRefusal(endpoint.host, response);
  }
}

function termsOf(response: IncomingMessage): Terms {
  const session = response.headers['mcp-session-id'];
  return { session: typeof session === 'string' ? session : null, revision: null };
}

/** Reads up to the answer: a stream may stay open after it. */
async function readTerms(response: IncomingMessage, terms: Terms): Promise<void> {
  const message = (text: Buffer) => {
    terms.revision ??= revisionIn(text);
    if (terms.revision !== null) response.destroy();
  };
  await readMessages(response, { message, overlong: () => {} }).catch((error: unknown) => {
    if (terms.revision === null) throw error;
  });
}

function revisionIn(text: Buffer): string | null {
  try {
    const message: unknown = JSON.parse(text.toString('utf8'));
    const result = isObject(message) ? message.result : undefined;
    return isObject(result) && typeof result.protocolVersion === 'string' ? result.protocolVersion : null;
  } catch {
    return null; // The conversation reports the fault.
  }
}

function notRenewed(host: string, why: string): Reason {
  return {
    code: 'session_lost',
    message: `${host} has forgotten the session, and a new one could not begin: ${why}.`,
    repair: 'It is restarted automatically; if this happens again, read the log of the MCP server.',
  };
}
