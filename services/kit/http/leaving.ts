import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { frontLooksEveryMs } from '../../contracts/drain.ts';
import { Quiet } from '../quiet.ts';

/** Who has asked for `/ready` within this time follows it. */
const followedMs = 3 * frontLooksEveryMs;
/** A front that has not asked again by then is gone. */
const tellWithinMs = 20 * frontLooksEveryMs;

/** How an HTTP server leaves that others of its kind take over from: a request that meets a connection being closed is lost to its client. */
export class Leaving {
  readonly #sockets = new Set<Socket>();
  readonly #messages = new Quiet();
  /** Resolves when somebody has been told that no more should come. */
  readonly #told = Promise.withResolvers<void>();
  #hasBegun = false;
  #isFollowed = false;
  #readyAskedAt = Number.NEGATIVE_INFINITY;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** From now on answers ask their clients to connect anew, and `/ready` has to say that no more should come. What comes is answered. */
  begin(): void {
    this.#hasBegun = true;
    this.#isFollowed = performance.now() - this.#readyAskedAt < followedMs;
  }

  /** Hears of each request before it is answered. */
  asked({ url, method }: IncomingMessage, response: ServerResponse): void {
    if (url === '/ready' && !this.#hasBegun) this.#readyAskedAt = performance.now();
    if (!this.#hasBegun) return;
    response.shouldKeepAlive = false;
    if (url === '/ready') response.once('finish', () => this.#told.resolve());
    if (method === 'POST') this.#messages.asked();
  }

  /**
   * Resolves when no message comes any more. Who follows `/ready` is told first. Who does not finds connections refused after a while, and a
   * front goes elsewhere then.
   */
  async quiet(): Promise<void> {
    if (this.#isFollowed) {
      const late = new AbortController();
      await Promise.race([this.#told.promise, pause(tellWithinMs, undefined, { signal: late.signal })]);
      late.abort();
    }
    await this.#messages.wait();
    // Clients open connections in advance. To Node such a one is not idle, because its first request is still awaited.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
