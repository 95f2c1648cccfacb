import type { ServerResponse } from 'node:http';
import type { Logger } from '../../kit/log.ts';

/** A client that reads nothing of its answer for this long is taken for gone. */
const silenceMaxMs = 60_000;
/** What may wait for all clients together: sixteen results of the largest size. */
const waitingMaxBytes = 256 * 1024 * 1024;

export interface UnreadLimits {
  readonly silenceMaxMs: number;
  readonly waitingMaxBytes: number;
}

interface Waiting {
  bytes: number;
  readonly release: () => void;
}

/** Answers that wait in this process because their clients don't read them: none for ever, and all together only so much. */
export class UnreadAnswers {
  readonly #log: Logger;
  readonly #limits: UnreadLimits;
  /** Oldest first. */
  readonly #waiting = new Map<ServerResponse, Waiting>();
  #bytes = 0;

  constructor(log: Logger, limits: UnreadLimits = { silenceMaxMs, waitingMaxBytes }) {
    this.#log = log;
    this.#limits = limits;
  }

  /** To be told of what was just written. Nearly always the system has taken all of it by then, and there is nothing to do. */
  note(response: ServerResponse): void {
    if (response.writableLength > 0) this.#wait(response);
  }

  #wait(response: ServerResponse): void {
    const { socket } = response.req;
    if (socket.destroyed) return;
    const waiting = this.#waiting.get(response) ?? this.#begin(response);
    this.#bytes += response.writableLength - waiting.bytes;
    waiting.bytes = response.writableLength;
    this.#makeRoom();
  }

  #begin(response: ServerResponse): Waiting {
    const { socket } = response.req;
    const onDrain = () => {
      if (response.writableLength === 0) release();
    };
    const release = () => {
      this.#bytes -= waiting.bytes;
      this.#waiting.delete(response);
      response.off('close', release);
      socket.off('close', release).off('drain', onDrain);
      // Answers that go on are silent for as long as they like; after those that have ended Node counts the connection's idle time.
      if (!response.writableEnded) response.setTimeout(0);
    };
    const waiting: Waiting = { bytes: 0, release };
    this.#waiting.set(response, waiting);
    // That of the connection as well: an answer behind another one that was never sent is not told.
    response.once('close', release);
    socket.once('close', release).on('drain', onDrain);
    // Node begins anew while the client reads, and ends the connection when the time is over.
    response.setTimeout(this.#limits.silenceMaxMs);
    return waiting;
  }

  /** Whoever has waited longest goes first. */
  #makeRoom(): void {
    for (const [response, { bytes, release }] of this.#waiting) {
      if (this.#bytes <= this.#limits.waitingMaxBytes) return;
      this.#log.warn(
        { bytes, waiting: this.#bytes },
        'ended a connection, because too much waits to be read by clients',
      );
      release();
      response.req.socket.destroy();
    }
  }
}
