import type { Socket } from 'node:net';
import type { Budget, Owner } from '../budget.ts';
import type { Connections } from './connections.ts';

/**
 * Connections with a valid key or token. They are never closed for a new connection, so each sender has a limited
 * number.
 */
export class AdmittedConnections<Kind extends string> {
  readonly #connections: Connections;
  readonly #places: Budget<Kind>;
  /** The last owner of each: a proxy sends requests of several senders on one connection. */
  readonly #owners = new WeakMap<Socket, Owner<Kind>>();

  constructor(connections: Connections, places: Budget<Kind>) {
    this.#connections = connections;
    this.#places = places;
  }

  /**
   * Counts a connection for its sender. Throws if the sender has too many; the connection then keeps its previous
   * owner.
   */
  use(socket: Socket, owner: Owner<Kind>): void {
    const before = this.#owners.get(socket);
    if (socket.destroyed || (before !== undefined && this.#places.isSame(before, owner))) return;
    this.#places.take(owner, 1);
    this.#owners.set(socket, owner);
    if (before !== undefined) {
      this.#places.give(before, 1);
      return;
    }
    this.#connections.admit(socket);
    socket.once('close', () => {
      const last = this.#owners.get(socket);
      if (last !== undefined) this.#places.give(last, 1);
    });
  }
}
