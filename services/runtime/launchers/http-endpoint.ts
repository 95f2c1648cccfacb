import * as http from 'node:http';
import * as https from 'node:https';
import type { StreamPosition } from './event-stream.ts';

/** What a handshake ended in; every later request names it (MCP 2025-11-25, "Session Management", "Protocol Version Header"). */
export interface Terms {
  readonly session: string | null;
  revision: string | null;
}

export interface EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: Buffer;
  readonly terms: Terms;
  /** Where a stream is taken up again. */
  readonly from?: StreamPosition;
  readonly signal: AbortSignal;
}

/** Calls and what accompanies them; the conversation bounds the calls. */
const socketsMax = 256;
/** Less than the five seconds after which many HTTP servers close an idle connection: one that closes as it is used loses a call. */
const idleSocketMs = 4000;

/** The one URL of an MCP server that speaks Streamable HTTP, and the connections to it. */
export class HttpEndpoint {
  readonly host: string;
  readonly #url: URL;
  readonly #client: typeof http | typeof https;
  readonly #agent: http.Agent;
  readonly #ownHeaders: Readonly<Record<string, string>>;

  constructor(url: URL, headers: Readonly<Record<string, string>>, proxyEnv: Readonly<Record<string, string>>) {
    this.host = url.host;
    this.#url = url;
    this.#client = url.protocol === 'https:' ? https : http;
    this.#agent = new this.#client.Agent({ keepAlive: true, maxSockets: socketsMax, timeout: idleSocketMs, proxyEnv });
    this.#ownHeaders = withoutReserved(headers);
  }

  /** Returns when the response has begun, whatever its status. */
  async request({ signal, ...asked }: EndpointRequest): Promise<http.IncomingMessage> {
    signal.throwIfAborted();
    const { method, body } = asked;
    const request = this.#client.request(this.#url, {
      method,
      agent: this.#agent,
      headers: this.#headers(asked),
      signal,
    });
    request.end(body);
    return responseTo(request);
  }

  /** Where one connection broke, those that lie idle are probably broken too, and each would cost a call to find out. */
  dropIdle(): void {
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
  }

  close(): void {
    this.#agent.destroy();
  }

  #headers({ method, body, terms, from }: Omit<EndpointRequest, 'signal'>): Record<string, string | number> {
    const { session, revision } = terms;
    const lastEventId = from?.lastEventId ?? null;
    return {
      ...this.#ownHeaders,
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...(session === null ? {} : { 'mcp-session-id': session }),
      ...(revision === null ? {} : { 'mcp-protocol-version': revision }),
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    };
  }
}

function responseTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    // 101 has no body to read: what follows it is another protocol.
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      response.destroy();
      resolve(response);
    });
    // After the response has begun, whoever reads it hears of its end; the request's own error would go unheard.
    request.on('error', reject);
    request.on('close', () => reject(new Error('The connection closed before a response.')));
  });
}

const reserved = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

function withoutReserved(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !reserved.has(name.toLowerCase())));
}
