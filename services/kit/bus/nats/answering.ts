import { SvcError } from '../../../contracts/errors.ts';
import type { Headers, Reply, Responder } from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { errorOnBus } from '../error-on-bus.ts';
import type { Deadlined } from '../in-flight.ts';
import { Question } from '../question.ts';
import type { Wire } from './asking.ts';
import { Incoming, Outgoing } from './flow.ts';
import { type Frame, framesOf, signalFrame, textOf } from './frame.ts';

/** Who answers, as far as one exchange is concerned. */
export interface Answerer {
  readonly handle: Responder;
  /** Its handler has returned, or was never called. */
  settled(): void;
}

export interface Asked {
  readonly subject: string;
  /** The end that asked. */
  readonly asker: string;
  readonly reply: string;
}

/** Longest a question may take in all; whoever asks has a deadline of its own, and tells it where it can. */
const answerMaxMs = 35 * 60_000;
/** The asker writes one sentence with its own subject. */
const reasonMaxLength = 1000;
const sent = Promise.resolve();

/** One request to this connection: puts its frames together, has it handled, and sends what comes of it. */
export class Answering implements Deadlined {
  readonly #asked: Asked;
  readonly #answerer: Answerer;
  readonly #wire: Wire;
  readonly #frames: Incoming;
  readonly #replies: Outgoing;
  readonly #onEnd: (answering: Answering) => void;
  readonly deadline = performance.now() + answerMaxMs;
  #over = false;
  #question: Question | null = null;

  constructor(asked: Asked, answerer: Answerer, wire: Wire, onEnd: (answering: Answering) => void) {
    this.#asked = asked;
    this.#answerer = answerer;
    this.#wire = wire;
    this.#onEnd = onEnd;
    const send = (frame: Frame) => wire.send(asked.reply, frame);
    this.#replies = new Outgoing(send);
    this.#frames = new Incoming((count) => send(signalFrame('received', String(count))));
  }

  get reply(): string {
    return this.#asked.reply;
  }

  isAskedBy(end: string): boolean {
    return this.#asked.asker === end;
  }

  isAnsweredBy(answerer: Answerer): boolean {
    return this.#answerer === answerer;
  }

  hear(frame: Frame): void {
    switch (frame.kind) {
      case 'question':
        this.#take(frame);
        return;
      case 'received':
        this.#received(frame);
        return;
      case 'cancel':
        this.abandon(reasonOf(frame));
        return;
      default:
    }
  }

  interim(payload: Uint8Array, headers: Headers | undefined): Promise<void> {
    if (this.#over) return sent;
    try {
      return this.#replies.give(framesOf('interim', copyPayload(payload), copyHeaders(headers)));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** Its answerer has as many as it accepts, and was not begun. */
  refuse(): void {
    const message = `Whoever answers "${this.#asked.subject}" has as many requests under way as it accepts.`;
    this.#turnDown(new SvcError('rate_limited', message, { hint: 'Try again shortly.' }));
  }

  timeOut(): void {
    this.abandon(new SvcError('timeout', `"${this.#asked.subject}" was not answered within its deadline.`));
  }

  /** Nobody waits for the answer any more. */
  abandon(reason?: SvcError): void {
    if (this.#over) return;
    this.#end();
    if (this.#question === null) this.#answerer.settled();
    else this.#question.abort(reason);
  }

  #received(frame: Frame): void {
    try {
      this.#replies.received(frame);
    } catch (thrown) {
      if (this.#over) return;
      this.#wire.logger.warn({ err: thrown, asker: this.#asked.asker }, 'ended a request after a malformed receipt');
      this.abandon();
    }
  }

  #take(frame: Frame): void {
    if (this.#over || this.#question !== null) return;
    try {
      const payload = this.#frames.take(frame);
      if (payload === null) return;
      this.#question = new Question(this, { subject: this.#asked.subject, payload, headers: frame.headers });
    } catch (thrown) {
      this.#answerer.settled();
      this.#turnDown(thrown);
      return;
    }
    this.#handle(this.#question);
  }

  /** Over at once: the rest of the question may lie right behind what has come of it, and would be taken for a whole one. */
  #turnDown(thrown: unknown): void {
    this.#sendError(thrown);
    this.#end();
  }

  #handle(question: Question): void {
    const settle = (then: () => void) => {
      this.#answerer.settled();
      if (!this.#over) then();
    };
    try {
      this.#answerer.handle(question).then(
        (reply) => settle(() => this.#sendFinal(reply)),
        (thrown: unknown) => settle(() => this.#sendError(thrown)),
      );
    } catch (thrown) {
      settle(() => this.#sendError(thrown));
    }
  }

  #sendFinal(reply: Reply): void {
    try {
      this.#sendLast(framesOf('final', copyPayload(reply.payload), copyHeaders(reply.headers)));
    } catch (thrown) {
      this.#sendError(thrown);
    }
  }

  #sendError(thrown: unknown): void {
    const error = Buffer.from(JSON.stringify(errorOnBus(thrown, this.#wire.logger)));
    this.#sendLast(framesOf('error', error, {}));
  }

  #sendLast(frames: readonly Frame[]): void {
    void this.#replies.giveLast(frames).then(() => this.#end());
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#replies.end();
    this.#onEnd(this);
  }
}

function reasonOf({ payload }: Frame): SvcError | undefined {
  return payload.byteLength === 0 ? undefined : new SvcError('timeout', textOf(payload).slice(0, reasonMaxLength));
}
