import type { SvcError } from '../../../contracts/errors.ts';
import type { Accepts } from '../../http/accept.ts';
import type { EventStream } from '../../http/event-stream.ts';
import { type Exchange, headersOfStatus } from '../../http/exchange.ts';
import { errorResponse, errorToJsonRpc, type RpcError } from './error-to-json-rpc.ts';

/**
 * The answer to one JSON-RPC request: one JSON object, or a stream of events from the first notification on
 * (2025-11-25, "Sending Messages to the Server"). Results are passed on as bytes and are not read.
 */
export class RpcAnswer {
  readonly #exchange: Exchange;
  readonly #accepts: Accepts;
  readonly #idText: string;
  #stream: EventStream | null = null;

  constructor(exchange: Exchange, accepts: Accepts, idText: string) {
    this.#exchange = exchange;
    this.#accepts = accepts;
    this.#idText = idText;
  }

  result(json: string | Uint8Array, headers?: readonly string[]): void {
    this.#finish(enclose(`{"jsonrpc":"2.0","id":${this.#idText},"result":`, json), 200, headers);
  }

  /** An error of an MCP server, unchanged. */
  foreignError(json: Uint8Array): void {
    this.#finish(enclose(`{"jsonrpc":"2.0","id":${this.#idText},"error":`, json), 200);
  }

  error(error: RpcError, status = 200): void {
    this.#finish(errorResponse(this.#idText, error), status, headersOfStatus(status));
  }

  fail(error: SvcError, status = 200): void {
    this.error(errorToJsonRpc(error), status);
  }

  /** Opens the stream if it is not open yet. False if the client accepts no stream, or reads too slowly. */
  notify(message: string): boolean {
    if (!this.#accepts.events || !this.#exchange.isOpen) return false;
    this.#stream ??= this.#exchange.stream();
    return this.#stream.notify(message);
  }

  /** Ends a cancelled request without a response (2025-11-25, "Cancellation", "Behavior Requirements"). */
  none(cancelled: SvcError): void {
    if (this.#accepts.events && this.#exchange.isOpen) (this.#stream ?? this.#exchange.stream()).end();
    else this.fail(cancelled);
  }

  #finish(message: string | Buffer, status: number, headers: readonly string[] = []): void {
    if (this.#stream !== null) this.#stream.finish(message);
    else if (this.#accepts.json || status !== 200) this.#exchange.json(status, message, headers);
    else this.#exchange.stream(headers).finish(message);
  }
}

const closeBrace = 125;

function enclose(start: string, json: string | Uint8Array): Buffer {
  if (typeof json === 'string') return Buffer.from(`${start}${json}}`);
  const startBytes = Buffer.byteLength(start);
  const message = Buffer.allocUnsafe(startBytes + json.byteLength + 1);
  message.write(start, 0);
  message.set(json, startBytes);
  message[message.length - 1] = closeBrace;
  return message;
}
