import { SvcError } from '../../../contracts/errors.ts';
import { Assembly, type Frame, textOf } from './frame.ts';

/** Unacknowledged frames before the sender waits: two of the largest payloads. */
const windowFrames = 64;
/** The receiver acknowledges after each of this many frames. */
const receivedEvery = 16;
/** Waiting frames before a sender that does not wait is refused. */
const waitingMax = 10_000;
/** Digits of a receipt. */
const countMaxLength = 4;
const sent = Promise.resolve();

/** Sends frames from one end of an exchange to the other, at the receiver's speed. */
export class Outgoing {
  readonly #send: (frame: Frame) => void;
  #waiting: Frame[] = [];
  #opened: (() => void)[] = [];
  #onTheirWay = 0;

  constructor(send: (frame: Frame) => void) {
    this.#send = send;
  }

  /** Resolves when more may be given. Rejects with `rate_limited` when too many frames wait. */
  give(frames: readonly Frame[]): Promise<void> {
    if (this.#waiting.length + frames.length > waitingMax) {
      return Promise.reject(new SvcError('rate_limited', 'Too many interim replies are waiting for delivery.'));
    }
    return this.#give(frames);
  }

  /** Gives frames that must be sent even when too many wait: a question, a final reply. */
  giveLast(frames: readonly Frame[]): Promise<void> {
    return this.#give(frames);
  }

  /** The receiver has acknowledged frames. Throws when the frame names no count, or more frames than were sent. */
  received({ payload }: Frame): void {
    const text = payload.byteLength > countMaxLength ? '' : textOf(payload);
    const count = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN;
    if (!(count <= this.#onTheirWay)) throw new SvcError('invalid_input', 'A receipt names frames that were not sent.');
    this.#onTheirWay -= count;
    this.#proceed();
    if (this.#waiting.length > 0) return;
    for (const open of this.#opened.splice(0)) open();
  }

  /** Sends nothing more and releases every waiting sender. */
  end(): void {
    this.#waiting = [];
    for (const open of this.#opened.splice(0)) open();
  }

  #give(frames: readonly Frame[]): Promise<void> {
    this.#waiting.push(...frames);
    this.#proceed();
    return this.#waiting.length === 0 ? sent : new Promise((resolve) => this.#opened.push(resolve));
  }

  #proceed(): void {
    let next = 0;
    while (next < this.#waiting.length && this.#onTheirWay < windowFrames) {
      const frame = this.#waiting[next++];
      this.#onTheirWay++;
      if (frame !== undefined) this.#send(frame);
    }
    this.#waiting.splice(0, next);
  }
}

export interface IncomingOptions {
  readonly tellReceived: (count: number) => void;
  /** Counts how often the outbox has been flushed. */
  readonly turn: () => number;
}

/** The receiving side: assembles payloads and acknowledges frames. */
export class Incoming {
  readonly #assembly = new Assembly();
  readonly #tellReceived: (count: number) => void;
  readonly #turn: () => number;
  #taken = 0;
  #atTurn = -1;
  #inTurn = 0;

  constructor({ tellReceived, turn }: IncomingOptions) {
    this.#tellReceived = tellReceived;
    this.#turn = turn;
  }

  /**
   * The complete payload with its last frame, null before. Throws `too_large`, and `rate_limited` when the sender
   * exceeds the window.
   */
  take(frame: Frame): Uint8Array | null {
    this.#checkWindow();
    if (++this.#taken >= receivedEvery) {
      this.#tellReceived(this.#taken);
      this.#taken = 0;
    }
    return this.#assembly.take(frame);
  }

  /** Receipts of this turn have not left yet, so an honest sender has at most two windows in transit. */
  #checkWindow(): void {
    const turn = this.#turn();
    if (turn !== this.#atTurn) {
      this.#atTurn = turn;
      this.#inTurn = 0;
    }
    if (++this.#inTurn > 2 * windowFrames) throw new SvcError('rate_limited', 'The sender does not wait for receipts.');
  }
}
