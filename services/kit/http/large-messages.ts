import { setTimeout as pause } from 'node:timers/promises';
import { BoundedMap } from '../bounded-map.ts';
import { giveWay } from '../give-way.ts';

/** A message above this size is large: reading several of them at once would delay small ones. */
const largeBytes = 64 * 1024;
/** Reading 1 MiB and passing it on takes some 10 ms of the event loop. */
const bytesPerSecond = 8 * 1024 * 1024;
const sendersMax = 10_000;

/**
 * Reads large messages in turn, at a bounded rate for each sender: a workspace or a user, with all its keys and
 * connections. The memory a sender may hold bounds how long a message waits.
 */
export class LargeMessages {
  /** By sender: when its next large message may be read. */
  readonly #nextAt = new BoundedMap<number>(sendersMax);

  /** Reads at once when the message is small. */
  read<Read>(sender: string, bytes: number, read: () => Read): Read | Promise<Read> {
    return bytes > largeBytes ? this.#readInTurn(sender, bytes, read) : read();
  }

  async #readInTurn<Read>(sender: string, bytes: number, read: () => Read): Promise<Read> {
    const now = performance.now();
    const readAt = Math.max(now, this.#nextAt.get(sender) ?? 0);
    this.#nextAt.set(sender, readAt + (1000 * bytes) / bytesPerSecond);
    if (readAt > now) await pause(readAt - now);
    await giveWay();
    const message = read();
    // Handling the message takes as long again.
    await giveWay();
    return message;
  }
}
