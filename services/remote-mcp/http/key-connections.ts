import type { Socket } from 'node:net';
import type { KeyId } from '../../contracts/ids.ts';
import type { Connections } from '../../kit/http/connections.ts';
import { Room } from '../sessions/room.ts';

/** Agents of one key may have all their streams open, and as many calls under way. */
const perKeyMax = 4000;
export const keyConnectionsMax = 20_000;

/** Connections with a good key: they give way to no stranger, so each key has only so many. */
export class KeyConnections {
  readonly #connections: Connections;
  /** The last key of each: a proxy sends requests of several keys on one connection. */
  readonly #keys = new WeakMap<Socket, KeyId>();
  readonly #room: Room;

  constructor(connections: Connections, limits = { max: keyConnectionsMax, perKeyMax }) {
    this.#connections = connections;
    this.#room = new Room({ what: 'connections', hint: 'Close connections that are no longer used.', ...limits });
  }

  /** Throws `rate_limited` where the key has too many; the connection stays a stranger's then. */
  use(socket: Socket, key: KeyId): void {
    const before = this.#keys.get(socket);
    if (before === key || socket.destroyed) return;
    this.#room.check(key);
    this.#room.take(key);
    this.#keys.set(socket, key);
    if (before !== undefined) {
      this.#room.leave(before);
      return;
    }
    this.#connections.admit(socket);
    socket.once('close', () => {
      const last = this.#keys.get(socket);
      if (last !== undefined) this.#room.leave(last);
    });
  }
}
