import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { frontLooksEveryMs } from '../contracts/drain.ts';
import { SvcError } from '../contracts/errors.ts';
import { errorToHttp } from '../kit/http/error-to-http.ts';
import { answerHealth } from '../kit/http/health.ts';
import { Quiet } from '../kit/quiet.ts';
import type { RemoteMcp } from './context.ts';
import { McpRoute } from './http/mcp-route.ts';
import { degraded, missing } from './readiness.ts';

/** A client that sends slowly is let go; calls may take as long as they need, and what is not read is looked after by UnreadAnswers. */
const headersDeadlineMs = 15_000;
const requestDeadlineMs = 60_000;
const deadlinesCheckedEveryMs = 5000;
/** Longer than the front's or any usual proxy's, so that no request meets a connection that is being closed. */
const keepAliveMs = 75_000;
const connectionsMax = 20_000;

/** Who has asked for `/ready` within this time follows it. */
const followedMs = 3 * frontLooksEveryMs;
/** A front that has not asked again by then is gone. */
const tellWithinMs = 20 * frontLooksEveryMs;

/** The HTTP server of `/mcp`, `/health` and `/ready`. */
export class RemoteMcpServer {
  readonly server: Server;
  readonly #platform: RemoteMcp;
  readonly #route: McpRoute;
  readonly #sockets = new Set<Socket>();
  #isStopping = false;
  readonly #messages = new Quiet();
  #isFollowed = false;
  #readyAskedAt = Number.NEGATIVE_INFINITY;
  /** Resolves when somebody has been told that no more should come. */
  readonly #told = Promise.withResolvers<void>();

  constructor(platform: RemoteMcp) {
    this.#platform = platform;
    this.#route = new McpRoute(platform);
    this.server = createServer(
      {
        headersTimeout: headersDeadlineMs,
        requestTimeout: requestDeadlineMs,
        connectionsCheckingInterval: deadlinesCheckedEveryMs,
        keepAliveTimeout: keepAliveMs,
      },
      (request, response) => this.#answer(request, response),
    );
    this.server.maxConnections = connectionsMax;
    this.server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** From now on answers ask their clients to connect anew, and `/ready` says that no more should come. What comes is answered. */
  beginStopping(): void {
    this.#isStopping = true;
    this.#isFollowed = performance.now() - this.#readyAskedAt < followedMs;
  }

  /**
   * Resolves when no message comes any more: a request that meets a connection being closed is lost to its client. Who follows `/ready` is
   * told first. Who does not finds connections refused after a while, and a front goes elsewhere then.
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

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { link } = this.#platform;
    const url = request.url ?? '';
    if (this.#isStopping) {
      response.shouldKeepAlive = false;
      if (request.method === 'POST') this.#messages.asked();
    }
    if (url === '/ready') this.#readyAsked(response);
    if (url === '/mcp' || url.startsWith('/mcp?')) void this.#route.handle(request, response);
    else {
      const ready = () => missing(link, this.#isStopping);
      if (!answerHealth(request, response, ready, () => degraded(link))) refuseUnknown(response, url);
    }
  }

  #readyAsked(response: ServerResponse): void {
    if (this.#isStopping) response.once('finish', () => this.#told.resolve());
    else this.#readyAskedAt = performance.now();
  }
}

function refuseUnknown(response: ServerResponse, url: string): void {
  const error = new SvcError('not_found', `There is nothing at "${url.slice(0, 200)}".`, {
    hint: 'Agents connect to /mcp.',
  });
  const { status, body } = errorToHttp(error);
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
