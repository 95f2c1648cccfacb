import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reason } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import { settledWithin } from '../time/settled-within.ts';
import { isObject } from '../wire/read-message.ts';
import { writeNotification } from '../wire/write-message.ts';
import { type Blot, createBlot } from './blot.ts';
import type { Channel, Outgoing } from './channel.ts';
import { explainNetworkError, explainStatus } from './explain-http.ts';
import { isEventStream, quoteBody, readEvents, readJson } from './http-body.ts';
import type { LaunchOrder } from './launch.ts';

/** Calls and what accompanies them; the conversation bounds the calls. */
const socketsMax = 256;
/** Less than the five seconds after which many HTTP servers close an idle connection: one that closes as it is used loses a call. */
const idleSocketMs = 4000;
const farewellMaxMs = 1000;
/** A stream ends after its answer; one that is left open would take up a connection for ever. */
const lingerMaxMs = 1000;
const listenAgain: Backoff = { firstMs: 1000, maxMs: 60_000 };

/** The Streamable HTTP transport of MCP 2025-11-25 ("Transports"), the client's side. */
export class HttpChannel implements Channel {
  readonly #url: URL;
  readonly #order: LaunchOrder<'http'>;
  readonly #blot: Blot;
  readonly #agent: http.Agent;
  readonly #ownHeaders: Readonly<Record<string, string>>;
  readonly #requests = new Map<number, http.ClientRequest>();
  /** Of these those that were broken off here: that they broke tells nothing about the MCP server. */
  readonly #forgotten = new Set<number>();
  readonly #over = new AbortController();
  #session: string | null = null;
  #revision: string | null = null;
  #initialize: Buffer | null = null;
  #renewing: Promise<boolean> | null = null;
  #handshake: Promise<void> | null = null;

  constructor(url: URL, order: LaunchOrder<'http'>, proxyEnv: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#order = order;
    this.#blot = createBlot(order.launch);
    const options = { keepAlive: true, maxSockets: socketsMax, timeout: idleSocketMs, proxyEnv };
    this.#agent = url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
    this.#ownHeaders = withoutReserved(order.launch.headers);
  }

  send(message: Buffer, about: Outgoing): void {
    if (this.#over.signal.aborted) throw this.#unavailable('is not connected');
    if (about.kind === 'request' && about.method === 'initialize') this.#initialize = message;
    // Messages travel side by side: none may overtake the one that ends the handshake.
    const before = this.#handshake;
    const sent = before === null ? this.#deliver(message, about) : before.then(() => this.#deliver(message, about));
    if (about.kind === 'notification' && about.method === 'notifications/initialized') {
      this.#handshake = sent.finally(() => {
        this.#handshake = null;
        void this.#listen();
      });
    }
  }

  forget(id: number): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#forgotten.add(id);
    request.destroy();
  }

  /** Its standard error is on another machine. */
  lastWords(): readonly string[] {
    return [];
  }

  async stop(): Promise<void> {
    if (this.#over.signal.aborted) return;
    if (this.#session !== null) await settledWithin(this.#sayGoodbye(), farewellMaxMs);
    this.#close();
  }

  /** Never throws: what fails is told to the listener. `isLast`: a lost session is not begun anew for it once more. */
  async #deliver(message: Buffer, about: Outgoing, isLast = false): Promise<void> {
    const id = about.kind === 'request' ? about.id : null;
    const session = isLast ? null : this.#session;
    try {
      const response = await this.#request('POST', message, id);
      if (isSuccess(response)) await this.#readAnswer(response, about);
      else await this.#readRefusal(response, { message, about, session });
    } catch (error) {
      if (id === null || !this.#forgotten.has(id)) this.#failed(id, error);
    } finally {
      if (id !== null) {
        this.#requests.delete(id);
        this.#forgotten.delete(id);
      }
    }
  }

  async #readAnswer(response: http.IncomingMessage, about: Outgoing): Promise<void> {
    if (about.kind !== 'request') {
      response.resume();
      return;
    }
    const { id, method } = about;
    if (method === 'initialize') this.#session = headerOf(response, 'mcp-session-id');
    let lingering: NodeJS.Timeout | undefined;
    await this.#readMessages(response, id, (text) => {
      if (method === 'initialize') this.#revision = revisionIn(text);
      const isAnswered = this.#order.listener.message(text, id);
      if (isAnswered) lingering ??= setTimeout(() => this.forget(id), lingerMaxMs);
    }).finally(() => clearTimeout(lingering));
    this.#order.listener.lost(id, this.#unavailable('ended its response without an answer'));
  }

  async #readMessages(response: http.IncomingMessage, id: number | null, take: (text: Buffer) => void): Promise<void> {
    const tooLarge = (bytes: number) => {
      if (id === null) this.#order.listener.garbage(`an event of ${bytes} bytes`);
      else
        this.#order.listener.lost(
          id,
          new SvcError('too_large', `MCP server "${this.#order.name}" answered with more than ${bytes} bytes.`),
        );
    };
    if (isEventStream(response)) await readEvents(response, take, tooLarge);
    else await readJson(response, take, tooLarge);
  }

  async #readRefusal(
    response: http.IncomingMessage,
    sent: { message: Buffer; about: Outgoing; session: string | null },
  ): Promise<void> {
    const { message, about, session } = sent;
    const status = response.statusCode ?? 0;
    const said = this.#blot(await quoteBody(response));
    if (isSessionLost(status, said) && session !== null && (await this.#isRenewedSince(session))) {
      // The request was refused before it was looked at, so sending it again does nothing twice.
      await this.#deliver(message, about, true);
      return;
    }
    const reason = explainStatus(this.#url.host, status, said);
    if (about.kind !== 'request') return;
    if (status === 401 || about.method === 'initialize') this.#end(reason);
    else this.#order.listener.lost(about.id, new SvcError('unavailable', reason.message, { hint: reason.repair }));
  }

  /** The MCP server has forgotten the session: it is begun anew, once for all that notice. */
  async #isRenewedSince(session: string): Promise<boolean> {
    if (this.#renewing === null && this.#session !== session) return true;
    this.#renewing ??= this.#beginAnew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #beginAnew(): Promise<boolean> {
    if (this.#initialize === null) return false;
    this.#session = null;
    const response = await this.#request('POST', this.#initialize, null);
    if (!isSuccess(response)) {
      this.#end(explainStatus(this.#url.host, response.statusCode ?? 0, this.#blot(await quoteBody(response))));
      return false;
    }
    this.#session = headerOf(response, 'mcp-session-id');
    await this.#readMessages(response, null, () => {});
    (await this.#request('POST', writeNotification('notifications/initialized'), null)).resume();
    this.#order.listener.renewed();
    return true;
  }

  /** The stream on which the MCP server speaks unasked, such as when its tools change. Many offer none, which is fine. */
  async #listen(): Promise<void> {
    const { signal } = this.#over;
    for (let failures = 1; !signal.aborted; failures++) {
      const began = performance.now();
      const offered = await this.#listenOnce(failures > 1).catch(() => true);
      if (!offered) return;
      if (performance.now() - began > listenAgain.maxMs) failures = 1;
      await pause(backoffMs(listenAgain, failures, Math.random()), undefined, { signal }).catch(() => {});
    }
  }

  /** `again`: something may have been said meanwhile. */
  async #listenOnce(again: boolean): Promise<boolean> {
    const session = this.#session;
    const response = await this.#request('GET', null, null);
    if (isSuccess(response) && isEventStream(response)) {
      if (again) this.#order.listener.renewed();
      await this.#readMessages(response, null, (text) => this.#order.listener.message(text, null));
      return true;
    }
    const said = await quoteBody(response);
    if (!isSessionLost(response.statusCode ?? 0, said) || session === null) return false;
    return this.#isRenewedSince(session);
  }

  async #sayGoodbye(): Promise<void> {
    (await this.#request('DELETE', null, null)).resume();
  }

  async #request(method: string, body: Buffer | null, id: number | null): Promise<http.IncomingMessage> {
    const request = (this.#url.protocol === 'https:' ? https : http).request(this.#url, {
      method,
      agent: this.#agent,
      headers: this.#headers(method, body),
      signal: this.#over.signal,
    });
    if (id !== null) this.#requests.set(id, request);
    request.end(body ?? undefined);
    const [response] = await once(request, 'response');
    // After the response has begun, whoever reads it hears of its end; the request's own error would go unheard.
    request.on('error', () => {});
    return response;
  }

  #headers(method: string, body: Buffer | null): Record<string, string | number> {
    return {
      ...this.#ownHeaders,
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...(this.#session === null ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#revision === null ? {} : { 'mcp-protocol-version': this.#revision }),
    };
  }

  #failed(id: number | null, error: unknown): void {
    const reason = explainNetworkError(this.#url.host, error);
    if (reason !== null) {
      this.#end(reason);
      return;
    }
    // Where one connection broke, those that lie idle are probably broken too, and each would cost a call to find out.
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
    if (id !== null) this.#order.listener.lost(id, this.#unavailable('broke the connection'));
  }

  #unavailable(what: string): SvcError {
    return new SvcError('unavailable', `MCP server "${this.#order.name}" at ${this.#url.host} ${what}.`);
  }

  #end(reason: Reason): void {
    if (this.#over.signal.aborted) return;
    this.#close();
    this.#order.listener.ended(reason);
  }

  #close(): void {
    this.#over.abort();
    this.#agent.destroy();
  }
}

const reserved = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

function withoutReserved(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !reserved.has(name.toLowerCase())));
}

function isSuccess({ statusCode = 0 }: http.IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** 404 by the specification; 400 by MCP servers that followed an early example. */
function isSessionLost(status: number, said: string): boolean {
  return status === 404 || (status === 400 && /session/i.test(said));
}

function headerOf(response: http.IncomingMessage, name: string): string | null {
  const value = response.headers[name];
  return typeof value === 'string' ? value : null;
}

function revisionIn(text: Buffer): string | null {
  try {
    const message: unknown = JSON.parse(text.toString('utf8'));
    const result = isObject(message) ? message.result : undefined;
    return isObject(result) && typeof result.protocolVersion === 'string' ? result.protocolVersion : null;
  } catch {
    return null; // The conversation says what is wrong with it.
  }
}
