import type { ServerResponse } from 'node:http';

/** Past this many unread bytes, notifications are dropped. Results never are. */
const waitingMaxBytes = 1024 * 1024;

const newline = 10;
const carriageReturn = 13;
const space = 32;

/** Server-sent events, each of them one JSON-RPC message. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #written: () => void;

  /** The head must have been written. `written` is called after each message. */
  constructor(response: ServerResponse, written: () => void) {
    this.#response = response;
    this.#written = written;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** Calls the listener at once if the client has already left. */
  onClose(listener: () => void): void {
    if (this.#response.destroyed) listener();
    else this.#response.once('close', listener);
  }

  /** False if the notification was dropped. */
  notify(message: string): boolean {
    if (!this.isOpen) return false;
    if (this.#response.writableLength > waitingMaxBytes) return false;
    this.#write(message);
    this.#written();
    return this.isOpen;
  }

  /** The last message: the response to the request that the stream answers. */
  finish(message: string | Buffer): void {
    if (!this.isOpen) return;
    this.#write(message);
    this.#response.end();
    this.#written();
  }

  /** The client may reconnect, after the given time if there is one (2025-11-25, "Listening for Messages from the Server"). */
  end(retryMs: number | null = null): void {
    if (this.isOpen) this.#response.end(retryMs === null ? '' : `retry: ${retryMs}\n\n`);
  }

  /** Keeps proxies from closing an idle stream, and detects a lost connection. */
  keepAlive(): void {
    if (this.isOpen && this.#response.writableLength === 0) this.#response.write(': \n\n');
  }

  #write(message: string | Buffer): void {
    this.#response.cork();
    this.#response.write('event: message\ndata: ');
    this.#response.write(typeof message === 'string' ? message : onOneLine(message));
    this.#response.write('\n\n');
    this.#response.uncork();
  }
}

/** A raw line break would end the event. In JSON it can only be white space between tokens. */
function onOneLine(bytes: Buffer): Buffer {
  for (const byte of [newline, carriageReturn]) {
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) bytes[at] = space;
  }
  return bytes;
}
