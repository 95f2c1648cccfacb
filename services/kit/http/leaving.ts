import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { frontLooksEveryMs } from '../../contracts/drain.ts';
import { Quiet } from '../quiet.ts';

/** A proxy that has asked for `/ready` within this time follows it. */
const followedMs = 3 * frontLooksEveryMs;
/** A proxy that has not asked again within this time is considered gone. */
const tellWithinMs = 20 * frontLooksEveryMs;

/**
 * Stops an HTTP server whose clients move to another one: a request on a closing connection would be lost to its
 * client.
 */
export class Leaving {
  readonly #sockets = new Set<Socket>();
  readonly #messages = new Quiet();
  /** Resolves when a proxy knows that it must send no more requests. */
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

  /**
   * From now on answers close their connections, and `/ready` must report the stop. Requests that still come are
   * answered.
   */
  begin(): void {
    this.#hasBegun = true;
    this.#isFollowed = performance.now() - this.#readyAskedAt < followedMs;
  }

  /** Called for each request before it is answered. */
  asked({ url, method }: IncomingMessage, response: ServerResponse): void {
    if (url === '/ready' && !this.#hasBegun) this.#readyAskedAt = performance.now();
    if (!this.#hasBegun) return;
    response.shouldKeepAlive = false;
    if (url === '/ready') response.once('finish', () => this.#told.resolve());
    if (method === 'POST') this.#messages.asked();
  }

  /**
   * Resolves when no more requests come. A proxy that follows `/ready` learns it first; others find connections refused
   * after a while and go elsewhere.
   */
  async quiet(): Promise<void> {
    if (this.#isFollowed) {
      const late = new AbortController();
      await Promise.race([this.#told.promise, pause(tellWithinMs, undefined, { signal: late.signal })]);
      late.abort();
    }
    await this.#messages.wait();
    // Clients open connections in advance. Node does not count them as idle, because their first request is still
    // expected.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
