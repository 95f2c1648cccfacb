import type { NatsConnection } from '@nats-io/transport-node';
import { type Frame, toNatsHeaders } from './frame.ts';

interface Letter {
  readonly subject: string;
  readonly frame: Frame;
  readonly reply: string | undefined;
}

/**
 * Collects the frames of one turn of the event loop and sends them together. Under load, a system call for each frame
 * would cost more than the rest of its handling.
 */
export class Outbox {
  readonly #connection: NatsConnection;
  #letters: Letter[] = [];
  #emptied = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** How often it was flushed. */
  get emptied(): number {
    return this.#emptied;
  }

  put(subject: string, frame: Frame, reply: string | undefined): void {
    if (this.#letters.push({ subject, frame, reply }) === 1) setImmediate(() => this.empty());
  }

  /** Sends its content. Content of a lost connection is lost as well. */
  empty(): void {
    const letters = this.#letters;
    this.#letters = [];
    this.#emptied++;
    if (this.#connection.isClosed()) return;
    for (const { subject, frame, reply } of letters) {
      const headers = toNatsHeaders(frame);
      this.#connection.publish(subject, frame.payload, {
        ...(headers === undefined ? {} : { headers }),
        ...(reply === undefined ? {} : { reply }),
      });
    }
  }

  clear(): void {
    this.#letters = [];
  }
}
