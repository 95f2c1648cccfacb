import type { IncomingMessage } from 'node:http';
import type { Reason } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { AddressRefused } from '../../kit/addresses/address-refused.ts';
import type { AddressRule } from '../../kit/addresses/address-rule.ts';
import { createAllowedLookup, type Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { settledWithin } from '../time/settled-within.ts';
import type { Channel, Outgoing } from './channel.ts';
import { explainClosedStream, explainForeignAddress, explainRefusal } from './explain-http.ts';
import { readAnswer } from './http-answer.ts';
import { discard, quoteBody } from './http-body.ts';
import { HttpEndpoint, type Terms } from './http-endpoint.ts';
import { HttpListening } from './http-listening.ts';
import type { HttpLog } from './http-log.ts';
import { HttpSession } from './http-session.ts';
import { isSessionLost, isSuccess, maybeOlderTransport } from './http-status.ts';
import type { LaunchOrder } from './launch.ts';
import { type Redact, seeAuthorization } from './redact.ts';
import { noTerms, openSse, type SseConnection } from './sse-connection.ts';

export interface HttpChannelOptions {
  readonly proxyEnv: Readonly<Record<string, string>>;
  readonly renewalMaxMs: number;
  readonly rule: AddressRule;
  readonly resolve: Resolve;
  readonly log: HttpLog;
}

type Request = Extract<Outgoing, { kind: 'request' }>;

/** One message to send, and the work to get its answer. */
interface Errand {
  readonly message: Buffer;
  readonly about: Outgoing;
  readonly signal: AbortSignal;
}

const farewellMaxMs = 1000;
/** Deadline of a message without an answer. */
const asideMaxMs = 30_000;
/** Concurrent messages without an answer: an MCP server may request more of them than it accepts. */
const asidesMax = 64;

/**
 * The client's side of the Streamable HTTP transport of MCP 2025-11-25 ("Transports"). An MCP server that refuses it and
 * offers HTTP+SSE of MCP 2024-11-05 is used with that.
 */
export class HttpChannel implements Channel {
  readonly #order: LaunchOrder<'http'>;
  readonly #redact: Redact;
  readonly #endpoint: HttpEndpoint;
  readonly #session: HttpSession;
  readonly #requests = new Map<number, AbortController>();
  readonly #over = new AbortController();
  readonly #log: HttpLog;
  #asides = 0;
  /** Set when the MCP server speaks the older transport. */
  #sse: SseConnection | null = null;

  constructor(url: URL, order: LaunchOrder<'http'>, options: HttpChannelOptions) {
    const { proxyEnv, renewalMaxMs, rule, resolve, log } = options;
    this.#order = order;
    this.#log = log;
    const { authorization, redact } = seeAuthorization(order);
    this.#redact = redact;
    const addresses = order.setBy === 'operator' ? null : { rule, lookup: createAllowedLookup(rule, resolve) };
    this.#endpoint = new HttpEndpoint({
      ...{ name: order.name, url, headers: order.launch.headers, authorization },
      ...{ proxyEnv, addresses },
    });
    this.#session = new HttpSession({
      endpoint: this.#endpoint,
      onRefusal: (status, said) => this.#logAnswer(status, said),
      renewalMaxMs,
      signal: this.#over.signal,
      onRenewed: () => order.listener.renewed(),
      onLost: (reason) => this.#end(reason),
    });
  }

  send(message: Buffer, about: Outgoing): void {
    if (this.#over.signal.aborted) throw this.#unavailable('is not connected');
    if (about.kind !== 'request' && this.#asides >= asidesMax) {
      throw new SvcError('rate_limited', `MCP server "${this.#order.name}" has ${asidesMax} open messages.`);
    }
    if (about.kind === 'request' && about.method === 'initialize') this.#session.begin(message);
    const sent = this.#carry(message, about);
    if (about.kind === 'notification' && about.method === 'notifications/initialized') {
      this.#session.readyAfter(sent);
      void sent.then(() => this.#listen());
    }
  }

  forget(id: number): void {
    this.#requests.get(id)?.abort();
  }

  /** Its standard error is on another machine. */
  lastWords(): readonly string[] {
    return [];
  }

  async stop(): Promise<void> {
    if (this.#over.signal.aborted) return;
    if (this.#session.terms.session !== null) await settledWithin(this.#sayGoodbye(), farewellMaxMs);
    this.#close();
  }

  /** Never throws: failures are reported to the listener. */
  async #carry(message: Buffer, about: Outgoing): Promise<void> {
    const request = about.kind === 'request' ? about : null;
    const signal = request === null ? this.#beginAside() : this.#begin(request);
    try {
      await this.#deliver({ message, about, signal }, await this.#session.ready);
    } catch (error) {
      // A request that this side aborted says nothing about the MCP server.
      if (!signal.aborted) this.#failed(request, error);
    } finally {
      if (request !== null) this.#requests.delete(request.id);
      else this.#asides--;
    }
  }

  #beginAside(): AbortSignal {
    this.#asides++;
    return AbortSignal.any([this.#over.signal, AbortSignal.timeout(asideMaxMs)]);
  }

  /** The signal aborts when the caller no longer waits: its deadline is the conversation's. */
  #begin({ id }: Request): AbortSignal {
    const waiting = new AbortController();
    this.#requests.set(id, waiting);
    return waiting.signal;
  }

  async #deliver(errand: Errand, terms: Terms, isRepeated = false): Promise<void> {
    if (this.#sse !== null) return this.#post(errand, this.#sse);
    const { message, about, signal } = errand;
    const response = await this.#endpoint.request({ method: 'POST', body: message, terms, signal });
    const { statusCode: status = 0 } = response;
    if (!isSuccess(status)) {
      const said = await quoteBody(response);
      const isGreeting = about.kind === 'request' && about.method === 'initialize';
      if (isGreeting && maybeOlderTransport(status) && (await this.#isGreetedOverSse(errand))) return;
      if (isRepeated || terms.session === null || !isSessionLost(status, said)) {
        this.#logAnswer(status, said);
        this.#refused(about, response);
      } else {
        // The refusal came before the message was processed, so it is safe to send again.
        await this.#deliver(errand, await this.#session.renewedSince(terms), true);
      }
    } else if (about.kind === 'request') {
      await this.#receive(response, about, { terms, signal });
    } else discard(response);
  }

  /** False when the MCP server does not offer the older transport. */
  async #isGreetedOverSse(greeting: Errand): Promise<boolean> {
    const opening = await openSse({
      endpoint: this.#endpoint,
      listener: this.#order.listener,
      signal: this.#over.signal,
      onEnd: (error) => this.#end(this.#endpoint.explain(error) ?? explainClosedStream(this.#endpoint.host)),
    });
    if (opening.kind === 'not offered') return false;
    if (opening.kind === 'foreign') {
      this.#end(explainForeignAddress(this.#endpoint.host));
      return true;
    }
    this.#sse = opening.connection;
    await this.#post(greeting, this.#sse);
    return true;
  }

  /** The answer arrives on the stream. */
  async #post({ message, about, signal }: Errand, { messages }: SseConnection): Promise<void> {
    const response = await this.#endpoint.request({
      method: 'POST',
      body: message,
      to: messages,
      terms: noTerms,
      signal,
    });
    const { statusCode: status = 0 } = response;
    if (isSuccess(status)) {
      discard(response);
      return;
    }
    this.#logAnswer(status, await quoteBody(response));
    const isLater = about.kind === 'request' && about.method !== 'initialize' && status !== 401;
    if (isLater) this.#order.listener.lost(about.id, this.#unavailable(`refused a message with HTTP ${status}`));
    else this.#refused(about, response);
  }

  #refused(about: Outgoing, response: IncomingMessage): void {
    if (about.kind !== 'request') return;
    const { statusCode: status = 0 } = response;
    const reason = explainRefusal(this.#endpoint.host, response);
    if (status === 401 || about.method === 'initialize') this.#end(reason);
    else this.#order.listener.lost(about.id, new SvcError('unavailable', reason.message, { hint: reason.repair }));
  }

  async #receive(
    response: IncomingMessage,
    { id, method }: Request,
    asked: { terms: Terms; signal: AbortSignal },
  ): Promise<void> {
    const { listener } = this.#order;
    const terms = method === 'initialize' ? this.#session.open(response) : asked.terms;
    const end = await readAnswer(response, {
      endpoint: this.#endpoint,
      terms,
      signal: asked.signal,
      take: (text) => {
        if (method === 'initialize') this.#session.learn(text);
        return listener.message(text, id);
      },
      tooLarge: (bytes) => listener.lost(id, this.#tooLarge(bytes)),
    });
    if (end.kind === 'answered') return;
    listener.lost(id, this.#unavailable('ended its response without an answer'));
    if (end.kind === 'refused') await this.#notTakenUp(end.response, terms);
  }

  /** The call had begun, so it is not sent again; the refusal still applies to the session or the credential. */
  async #notTakenUp(response: IncomingMessage, terms: Terms): Promise<void> {
    const { statusCode: status = 0 } = response;
    const said = await quoteBody(response);
    this.#logAnswer(status, said);
    if (status === 401) this.#end(explainRefusal(this.#endpoint.host, response));
    else if (terms.session !== null && isSessionLost(status, said)) await this.#session.renewedSince(terms);
  }

  async #listen(): Promise<void> {
    if (this.#sse !== null) return;
    const { listener } = this.#order;
    const listening = new HttpListening({
      endpoint: this.#endpoint,
      session: this.#session,
      listener,
      signal: this.#over.signal,
    });
    await listening.run();
  }

  async #sayGoodbye(): Promise<void> {
    const { terms } = this.#session;
    discard(await this.#endpoint.request({ method: 'DELETE', terms, signal: this.#over.signal }));
  }

  #failed(request: Request | null, error: unknown): void {
    const reason = this.#endpoint.explain(error);
    if (error instanceof AddressRefused) this.#log.refused(this.#order, error);
    if (reason !== null) {
      this.#end(reason);
      return;
    }
    this.#endpoint.dropIdle();
    if (request !== null) this.#order.listener.lost(request.id, this.#unavailable('broke the connection'));
  }

  #logAnswer(status: number, said: string): void {
    this.#log.answered(this.#order, { status, said: this.#redact(said) });
  }

  #tooLarge(bytes: number): SvcError {
    return new SvcError('too_large', `MCP server "${this.#order.name}" answered with more than ${bytes} bytes.`);
  }

  #unavailable(what: string): SvcError {
    return new SvcError('unavailable', `MCP server "${this.#order.name}" at ${this.#endpoint.host} ${what}.`);
  }

  #end(reason: Reason): void {
    if (this.#over.signal.aborted) return;
    this.#close();
    this.#order.listener.ended(reason);
  }

  #close(): void {
    this.#over.abort();
    for (const waiting of this.#requests.values()) waiting.abort();
    this.#endpoint.close();
  }
}
