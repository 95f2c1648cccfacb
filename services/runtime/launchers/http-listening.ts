import { setTimeout as pause } from 'node:timers/promises';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import type { ChannelListener } from './channel.ts';
import { beginning } from './event-stream.ts';
import { isEventStream, quoteBody, readMessages } from './http-body.ts';
import type { HttpEndpoint, Terms } from './http-endpoint.ts';
import type { HttpSession } from './http-session.ts';
import { isPassing, isSessionLost, isSuccess } from './http-status.ts';

export interface ListenOptions {
  readonly endpoint: HttpEndpoint;
  readonly session: HttpSession;
  readonly listener: Pick<ChannelListener, 'message' | 'garbage' | 'renewed'>;
  readonly signal: AbortSignal;
}

const listenAgain: Backoff = { firstMs: 1000, maxMs: 60_000 };

/**
 * The stream for messages that an MCP server sends without a request, such as changed tools (MCP 2025-11-25, "Listening
 * for Messages from the Server"). Many offer none, which is allowed.
 */
export class HttpListening {
  readonly #options: ListenOptions;
  /** Event ids belong to a session: they are invalid in the next. */
  #terms: Terms | null = null;
  #position = beginning();
  /** Messages may have been sent before the stream opened. */
  #hasMissed = false;
  /** The last request was refused as if the session were lost. */
  #hasLost = false;

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  /** Returns when there is no such stream, or when the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const began = performance.now();
      const outcome = await this.#listen().catch(() => 'broken' as const);
      if (outcome === 'not offered') return;
      const { retryMs } = this.#position;
      const isSteady = performance.now() - began > listenAgain.maxMs || (outcome === 'closed' && retryMs !== null);
      failures = isSteady ? 1 : failures + 1;
      this.#hasMissed = true;
      const waitMs = Math.max(backoffMs(listenAgain, failures, Math.random()), retryMs ?? 0);
      await pause(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  async #listen(): Promise<'closed' | 'refused' | 'not offered'> {
    const { endpoint, session, listener, signal } = this.#options;
    const terms = await session.ready;
    if (terms !== this.#terms) this.#position = beginning();
    this.#terms = terms;
    const position = this.#position;
    const isResumed = position.lastEventId !== null;
    const response = await endpoint.request({ method: 'GET', terms, from: position, signal });
    const { statusCode: status = 0 } = response;
    if (isSuccess(status) && isEventStream(response)) {
      this.#hasLost = false;
      if (this.#hasMissed && !isResumed) listener.renewed();
      const message = (text: Buffer) => listener.message(text, null);
      const overlong = (bytes: number) => listener.garbage(`an event of ${bytes} bytes`);
      await readMessages(response, { message, overlong }, position);
      return 'closed';
    }
    const said = await quoteBody(response);
    if (isPassing(status)) return 'refused';
    this.#position = beginning();
    // Some answer 404 when they offer no stream. A new session shows which it was.
    if (terms.session !== null && isSessionLost(status, said) && !this.#hasLost) {
      this.#hasLost = true;
      await session.renewedSince(terms);
    } else if (!isResumed) return 'not offered';
    return 'refused';
  }
}
