import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** At some 30 KiB each. */
const strangersMaxDefault = 4096;
const admittedMaxDefault = 4096;
/** Clients that wait for each answer have one request on a connection; a flood behind one answer has thousands. */
const waitingMax = 16;

export interface ConnectionLimits {
  readonly strangersMax: number;
  readonly admittedMax: number;
}

/**
 * Bounds the connections of an HTTP server. A connection is unauthenticated until it has shown a valid key or token.
 * Beyond the limit, the oldest idle one is closed: of the newcomer's address if that exceeds its share, else of all
 * addresses.
 */
export class Connections {
  readonly #strangersMax: number;
  readonly #admitted = new WeakSet<Socket>();
  /**
   * Idle unauthenticated connections, by the end of their last request; with their addresses, which a closed socket no
   * longer knows.
   */
  readonly #strangers = new Map<Socket, string>();
  readonly #ofAddress = new Map<string, Set<Socket>>();
  /** Pipelined requests of each connection. */
  readonly #waiting = new WeakMap<Socket, number>();

  constructor(server: Server, limits: Partial<ConnectionLimits> = {}) {
    const { strangersMax = strangersMaxDefault, admittedMax = admittedMaxDefault } = limits;
    this.#strangersMax = strangersMax;
    // Idle unauthenticated connections, as many with a request, and all admitted ones.
    server.maxConnections = 2 * strangersMax + admittedMax;
    server.on('connection', (socket) => {
      socket.once('close', () => this.#remove(socket));
      this.#add(socket);
    });
    server.prependListener('request', (request, response) => this.#begin(request, response));
  }

  /** The connection has shown a valid key or token: it is no longer closed for a new one. */
  admit(socket: Socket): void {
    this.#admitted.add(socket);
    this.#remove(socket);
  }

  #remove(socket: Socket): void {
    const address = this.#strangers.get(socket);
    if (address === undefined) return;
    this.#strangers.delete(socket);
    const ofAddress = this.#ofAddress.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.#ofAddress.delete(address);
  }

  #add(socket: Socket): void {
    if (socket.destroyed) return;
    const address = socket.remoteAddress ?? '';
    const ofAddress = this.#ofAddress.get(address) ?? new Set<Socket>();
    this.#ofAddress.set(address, ofAddress.add(socket));
    this.#strangers.set(socket, address);
    if (this.#strangers.size > this.#strangersMax) this.#makeRoom(ofAddress);
  }

  #makeRoom(ofNewcomer: ReadonlySet<Socket>): void {
    const part = this.#strangersMax / this.#ofAddress.size;
    const [oldest] = ofNewcomer.size > part ? ofNewcomer : this.#strangers.keys();
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.destroy();
  }

  #begin({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#strangers.has(socket)) {
      this.#remove(socket);
      response.once('close', () => {
        if (!this.#admitted.has(socket) && !this.#strangers.has(socket)) this.#add(socket);
      });
    }
    // Node gives an answer its socket when those before it are sent.
    if (response.socket === null) this.#wait(socket, response);
  }

  #wait(socket: Socket, response: ServerResponse): void {
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    response.once('close', () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1));
    if (waiting > waitingMax) socket.destroy();
  }
}

/** Longer than proxies keep an idle connection. */
const silenceMaxMs = 90_000;

/** Bounds a server without keys that answers at once. */
export function boundStrangers(server: Server): void {
  new Connections(server, { admittedMax: 0 });
  // A client that does not read its answer keeps its connection no longer than this.
  server.setTimeout(silenceMaxMs);
}
