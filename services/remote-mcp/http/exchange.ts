import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { SvcError } from '../../contracts/errors.ts';
import { withoutKeys } from '../../contracts/keys.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import { HttpRefusal } from '../../kit/http/http-refusal.ts';
import { type AgentOwner, strangers } from './agent-memory.ts';
import { EventStream } from './event-stream.ts';
import type { UnreadAnswers } from './unread-answers.ts';

export interface ExchangeOptions {
  readonly id: string;
  readonly cors: readonly string[];
  readonly unread: UnreadAnswers;
  /** WWW-Authenticate of a refused key. */
  readonly challenge: (authorization: string | undefined) => string;
}

/** One HTTP request and its answer. Each answer carries the request's id and, for an allowed page, the CORS headers. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Follows the request through every log. */
  readonly id: string;
  readonly #common: readonly string[];
  readonly #unread: UnreadAnswers;
  readonly #challenge: ExchangeOptions['challenge'];
  /** The key that admitted the request, and its workspace. */
  owner: AgentOwner = strangers;

  constructor(request: IncomingMessage, response: ServerResponse, { id, cors, unread, challenge }: ExchangeOptions) {
    this.request = request;
    this.response = response;
    this.id = id;
    this.#common = cors.length === 0 ? ['x-request-id', id] : ['x-request-id', id, ...cors];
    this.#unread = unread;
    this.#challenge = challenge;
  }

  /** False once the request is answered or its client has disconnected. */
  get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  json(status: number, body: string | Buffer, headers: readonly string[] = [], reason = STATUS_CODES[status]): void {
    if (!this.isOpen || this.response.headersSent) return;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.response.writeHead(status, reason, [
      ...['content-type', 'application/json', 'content-length', String(bytes.length)],
      ...this.#common,
      ...headers,
    ]);
    if (bytes.length <= smallMaxBytes) writeAtOnce(this.response, bytes);
    else this.response.end(bytes);
    this.#unread.note(this.response, this.owner);
  }

  empty(status: number, headers: readonly string[] = []): void {
    if (!this.isOpen || this.response.headersSent) return;
    const length = status === 204 ? [] : ['content-length', '0'];
    this.response.writeHead(status, [...length, ...this.#common, ...headers]);
    this.response.end();
  }

  stream(headers: readonly string[] = []): EventStream {
    if (this.isOpen) {
      this.response.writeHead(200, [
        ...['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no'],
        ...this.#common,
        ...headers,
      ]);
      this.response.flushHeaders();
    }
    return new EventStream(this.response, () => this.#unread.note(this.response, this.owner));
  }

  /** Expects an error whose text may be shown: bugs pass `withBugReported` first. `text` replaces the usual body. */
  refuse(error: SvcError, text?: string): void {
    const answer = errorToHttp(error);
    const isSpecial = error instanceof HttpRefusal;
    const status = isSpecial ? error.status : answer.status;
    const special = isSpecial ? error.headers : [];
    const usual =
      status === 401 ? ['www-authenticate', this.#challenge(this.header('authorization'))] : headersOfStatus(status);
    const headers = [...usual, ...special];
    this.json(status, text ?? JSON.stringify(answer.body), headers, reasonOf(status, error));
  }
}

/**
 * The reason phrase (RFC 9112 §4) of a refused key says why. Clients that throw the body of a 401 away, such as the
 * Python SDK of MCP before version 2, still show it.
 */
function reasonOf(status: number, { message }: SvcError): string | undefined {
  if (status !== 401) return undefined;
  return `${STATUS_CODES[status]}: ${withoutKeys(message).replace(/[^\x20-\x7e]/g, '?')}`;
}

/** Larger bytes are not worth a copy. Node writes a text up to this size without allocating memory for it. */
const smallMaxBytes = 8 * 1024;

/**
 * Writes the head and the body as one text. `end` with bytes would write two pieces and an empty one, which costs a vectored
 * write and its memory. Without the cork, Node would cork the connection itself until the next tick.
 */
function writeAtOnce(response: ServerResponse, bytes: Buffer): void {
  const { socket } = response;
  socket?.cork();
  response.write(bytes.toString('latin1'), 'latin1');
  socket?.uncork();
  response.end();
}

/** Headers that an answer of this status must or should have (RFC 9110: 11.6.1 for 401, 10.2.3 for statuses that invite a retry). */
export function headersOfStatus(status: number): readonly string[] {
  switch (status) {
    case 401:
      return ['www-authenticate', 'Bearer'];
    case 429:
    case 503:
      return ['retry-after', '1'];
    default:
      return [];
  }
}
