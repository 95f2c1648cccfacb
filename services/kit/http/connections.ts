import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections without a good key or token; at some 30 KiB each. */
export const strangersMax = 4096;
/** Clients that wait for each answer have one request on a connection; a flood behind one answer has thousands. */
const waitingMax = 16;

export interface ConnectionLimits {
  readonly strangersMax: number;
}

/**
 * Bounds the connections of an HTTP server. A connection is a stranger's until it has shown something good. Where there are too many strangers,
 * the oldest connection gives way: of the newcomer's own address where that has more than its part, else of all.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** With their addresses, which a closed socket forgets; oldest first. */
  readonly #strangers = new Map<Socket, string>();
  readonly #ofAddress = new Map<string, Set<Socket>>();
  /** Requests behind others on their connection. */
  readonly #waiting = new WeakMap<Socket, number>();

  constructor(server: Server, limits: ConnectionLimits = { strangersMax }) {
    this.#limits = limits;
    server.on('connection', (socket) => this.#add(socket));
    server.prependListener('request', (request, response) => this.#watchOrder(request, response));
  }

  /** It has shown a good key or token: it no longer gives way. */
  admit(socket: Socket): void {
    const address = this.#strangers.get(socket);
    if (address === undefined) return;
    this.#strangers.delete(socket);
    const ofAddress = this.#ofAddress.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.#ofAddress.delete(address);
  }

  #add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const ofAddress = this.#ofAddress.get(address) ?? new Set<Socket>();
    this.#ofAddress.set(address, ofAddress.add(socket));
    this.#strangers.set(socket, address);
    socket.once('close', () => this.admit(socket));
    if (this.#strangers.size > this.#limits.strangersMax) this.#makeRoom(ofAddress);
  }

  #makeRoom(ofNewcomer: ReadonlySet<Socket>): void {
    const part = this.#limits.strangersMax / this.#ofAddress.size;
    const [oldest] = ofNewcomer.size > part ? ofNewcomer : this.#strangers.keys();
    if (oldest === undefined) return;
    this.admit(oldest);
    oldest.destroy();
  }

  /** Node gives an answer its socket when those before it are sent. */
  #watchOrder({ socket }: IncomingMessage, response: ServerResponse): void {
    if (response.socket !== null) return;
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    response.once('close', () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1));
    if (waiting > waitingMax) socket.destroy();
  }
}
