import type { NatsConnection } from '@nats-io/transport-node';
import { type Frame, toNatsHeaders } from './frame.ts';

interface Letter {
  readonly subject: string;
  readonly frame: Frame;
  readonly reply: string | undefined;
}

/**
 * What is to be sent in this turn of the event loop goes to NATS at its end, in one piece: under load a system call for each message would cost
 * more than all else that is done for it, here and in NATS.
 */
export class Outbox {
  readonly #connection: NatsConnection;
  #letters: Letter[] = [];
  #emptied = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** How often it was emptied. */
  get emptied(): number {
    return this.#emptied;
  }

  put(subject: string, frame: Frame, reply: string | undefined): void {
    if (this.#letters.push({ subject, frame, reply }) === 1) setImmediate(() => this.empty());
  }

  /** Hands over what is in it. What a lost connection left in it is lost as well. */
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
