import { SvcError } from '../../../contracts/errors.ts';
import { Assembly, type Frame, textOf } from './frame.ts';

/** Frames on their way before the sender waits: two of the largest payloads. */
const windowFrames = 64;
/** The receiver says how far it is each time it has taken as many. */
const receivedEvery = 16;
/** Frames that wait to be sent before a sender that does not wait is refused. */
const waitingMax = 10_000;
/** Digits of a receipt. */
const countMaxLength = 4;
const sent = Promise.resolve();

/** Frames from one end of an exchange to the other, no faster than that takes them. */
export class Outgoing {
  readonly #send: (frame: Frame) => void;
  #waiting: Frame[] = [];
  #opened: (() => void)[] = [];
  #onTheirWay = 0;

  constructor(send: (frame: Frame) => void) {
    this.#send = send;
  }

  /** Resolves when more may be given. Rejects `rate_limited` where too much waits already. */
  give(frames: readonly Frame[]): Promise<void> {
    if (this.#waiting.length + frames.length > waitingMax) {
      return Promise.reject(new SvcError('rate_limited', 'Too many interim replies wait to be delivered.'));
    }
    return this.#give(frames);
  }

  /** Gives what must be given whatever waits already: a question, a final reply. */
  giveLast(frames: readonly Frame[]): Promise<void> {
    return this.#give(frames);
  }

  /** The receiver has taken frames. Throws where the frame names no count, or more frames than are on their way. */
  received({ payload }: Frame): void {
    const text = payload.byteLength > countMaxLength ? '' : textOf(payload);
    const count = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN;
    if (!(count <= this.#onTheirWay)) throw new SvcError('invalid_input', 'A receipt names frames that were not sent.');
    this.#onTheirWay -= count;
    this.#proceed();
    if (this.#waiting.length > 0) return;
    for (const open of this.#opened.splice(0)) open();
  }

  /** Nothing more is sent; nobody is kept waiting. */
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
  /** Counts the times that what this process says has left it. */
  readonly turn: () => number;
}

/** The other side of it: puts payloads together, and lets the sender know that there is room again. */
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

  /** A whole payload with its last frame, null before. Throws `too_large`, and `rate_limited` where the sender goes beyond the window. */
  take(frame: Frame): Uint8Array | null {
    this.#checkWindow();
    if (++this.#taken >= receivedEvery) {
      this.#tellReceived(this.#taken);
      this.#taken = 0;
    }
    return this.#assembly.take(frame);
  }

  /** Receipts of this turn have not left yet. A sender that keeps to them has one window on its way, and one more for earlier receipts. */
  #checkWindow(): void {
    const turn = this.#turn();
    if (turn !== this.#atTurn) {
      this.#atTurn = turn;
      this.#inTurn = 0;
    }
    if (++this.#inTurn > 2 * windowFrames) throw new SvcError('rate_limited', 'The sender does not wait for receipts.');
  }
}
