import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Reason } from '../../contracts/bus/messages.ts';
import { isTransportHeader } from '../../contracts/setting-rules.ts';
import { AddressRefused, refuseAddress } from '../../kit/addresses/address-refused.ts';
import type { AddressRule } from '../../kit/addresses/address-rule.ts';
import type { StreamPosition } from './event-stream.ts';
import { explainAddress, explainNetworkError } from './explain-http.ts';

/**
 * The result of a handshake; every later request names it (MCP 2025-11-25, "Session Management", "Protocol Version
 * Header").
 */
export interface Terms {
  readonly session: string | null;
  revision: string | null;
}

export interface EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: Buffer;
  /** Path and query of another address at the same origin. */
  readonly to?: string;
  readonly terms: Terms;
  /** The position at which a stream is resumed. */
  readonly from?: StreamPosition;
  readonly signal: AbortSignal;
}

export interface EndpointOptions {
  /** The MCP server's name, for messages. */
  readonly name: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Comes before a header Authorization in `headers`. Read for each request. */
  readonly authorization?: (() => string | undefined) | undefined;
  /** Variables that name proxies. */
  readonly proxyEnv: Readonly<Record<string, string>>;
  /** Checks each address before a connection to it; null if the URL may reach any address. */
  readonly addresses: { readonly rule: AddressRule; readonly lookup: LookupFunction } | null;
}

/** Calls and their accompanying messages; the conversation limits the calls. */
const socketsMax = 256;
/**
 * Less than the five seconds after which many HTTP servers close an idle connection: a call on a closing connection is
 * lost.
 */
const idleSocketMs = 4000;
/** Interim responses (RFC 9110 §15.2) before a response; servers send one or two. */
const informationMax = 20;

/** The URL of an MCP server, and the connections to it. */
export class HttpEndpoint {
  readonly host: string;
  readonly url: URL;
  readonly #name: string;
  readonly #client: typeof http | typeof https;
  readonly #agent: http.Agent;
  readonly #ownHeaders: Readonly<Record<string, string>>;
  readonly #authorization: () => string | undefined;
  readonly #rule: AddressRule | null;
  readonly #passesProxies: boolean;

  constructor({ name, url, headers, authorization, proxyEnv, addresses }: EndpointOptions) {
    this.host = url.host;
    this.#name = name;
    this.url = url;
    this.#client = url.protocol === 'https:' ? https : http;
    // A proxy would resolve the name itself, and might connect to another address than the checked one.
    const way = addresses === null ? { proxyEnv } : { lookup: addresses.lookup };
    this.#agent = new this.#client.Agent({ keepAlive: true, maxSockets: socketsMax, timeout: idleSocketMs, ...way });
    this.#ownHeaders = withoutReserved(headers);
    this.#authorization = authorization ?? (() => undefined);
    this.#rule = addresses?.rule ?? null;
    this.#passesProxies = addresses !== null && namesProxy(proxyEnv);
  }

  /** Returns when the response has begun, with any status. */
  async request({ signal, ...asked }: EndpointRequest): Promise<http.IncomingMessage> {
    signal.throwIfAborted();
    if (this.#rule !== null) refuseAddress(this.#rule, this.url.hostname);
    const { method, body, to } = asked;
    const url = to === undefined ? this.url : withPath(this.url, to);
    const request = this.#client.request(url, {
      method,
      agent: this.#agent,
      headers: this.#headers(asked),
      signal,
    });
    request.end(body);
    return responseTo(request);
  }

  /** After one broken connection, idle ones are probably broken too, and each would cost a call to find out. */
  dropIdle(): void {
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
  }

  /** Why the MCP server is unreachable; null if only one request may have failed. */
  explain(error: unknown): Reason | null {
    if (error instanceof AddressRefused) return explainAddress(this.#name, error);
    const reason = explainNetworkError(this.host, error);
    if (reason?.code !== 'not_reachable' || !this.#passesProxies) return reason;
    return { ...reason, repair: `${reason.repair} ${withoutProxy}` };
  }

  close(): void {
    this.#agent.destroy();
  }

  #headers({ method, body, terms, from }: Omit<EndpointRequest, 'signal' | 'to'>): Record<string, string | number> {
    const { session, revision } = terms;
    const lastEventId = from?.lastEventId ?? null;
    const authorization = this.#authorization();
    return {
      ...(authorization === undefined
        ? this.#ownHeaders
        : { ...without('authorization', this.#ownHeaders), authorization }),
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...(session === null ? {} : { 'mcp-session-id': session }),
      ...(revision === null ? {} : { 'mcp-protocol-version': revision }),
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    };
  }
}

function without(header: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== header));
}

/** Nothing else of the address changes, whatever the text is. */
function withPath(url: URL, pathAndQuery: string): URL {
  const other = new URL(url);
  const query = pathAndQuery.indexOf('?');
  other.pathname = query === -1 ? pathAndQuery : pathAndQuery.slice(0, query);
  other.search = query === -1 ? '' : pathAndQuery.slice(query);
  return other;
}

function namesProxy(env: Readonly<Record<string, string>>): boolean {
  return Object.entries(env).some(([name, value]) => /^https?_proxy$/i.test(name) && value !== '');
}

const withoutProxy =
  "The runtime connects to members' URLs without its proxy. An operator can set the URL to use the proxy: svc apply";

function responseTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    let informed = 0;
    request.on('information', () => {
      if (++informed > informationMax) request.destroy(new Error('The MCP server sent too many interim responses.'));
    });
    // 101 has no body to read: another protocol follows.
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      response.destroy();
      resolve(response);
    });
    // Once the response has begun, its reader handles its end; the request's own error needs this listener.
    request.on('error', reject);
    request.on('close', () => reject(new Error('The connection closed before a response.')));
  });
}

/** Headers of MCP's own requests (MCP 2025-11-25, "Transports"). */
const own = ['accept', 'content-type', 'last-event-id', 'mcp-protocol-version', 'mcp-session-id'];

function withoutReserved(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !isTransportHeader(name) && !own.includes(name.toLowerCase())),
  );
}
