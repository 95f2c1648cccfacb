import { SvcError } from '../../../contracts/errors.ts';
import type { Headers, Reply, Responder } from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { errorOnBus } from '../error-on-bus.ts';
import type { Deadlined } from '../in-flight.ts';
import { Question } from '../question.ts';
import type { Senders } from '../senders.ts';
import { Incoming, Outgoing } from './flow.ts';
import { type Frame, framesOf, signalFrame, textOf } from './frame.ts';
import type { Wire } from './outgoing-exchange.ts';
import type { GivenUp, Unfinished } from './unfinished.ts';

/** The responder's side of one exchange. */
export interface Answerer {
  readonly handle: Responder;
  /** Whether it has reached its limit of concurrent requests. */
  readonly isFull: boolean;
  /** Its handler is called. */
  began(): void;
  /** Its handler has returned. */
  settled(): void;
}

export interface IncomingRequest {
  readonly subject: string;
  /** The end that sent the request. */
  readonly asker: string;
  readonly reply: string;
}

/** What `Answering` needs of its connection. */
export interface AnsweringWiring {
  readonly wire: Wire;
  readonly unfinished: Unfinished;
  readonly senders: Senders;
  readonly onEnd: (answering: Answering) => void;
}

/** Longest duration of a request. The caller has its own deadline and announces it if it can. */
const answerMaxMs = 35 * 60_000;
/** Longest pause between frames of a question; they follow each other at once, also over a slow line. */
const frameMaxMs = 10_000;
/** Longest time until a question is complete: the largest one over a line of 2 Mbit/s. */
const questionMaxMs = 60_000;
/** A caller writes one sentence as the reason, with its own subject. */
const reasonMaxLength = 1000;
const sent = Promise.resolve();

/** One request to this connection: assembles its frames, calls the handler, and sends the replies. */
export class Answering implements Deadlined, GivenUp {
  readonly #asked: IncomingRequest;
  readonly #answerer: Answerer;
  readonly #wiring: AnsweringWiring;
  readonly #frames: Incoming;
  readonly #replies: Outgoing;
  readonly #begunAt = performance.now();
  deadline = this.#begunAt + frameMaxMs;
  place = -1;
  /** Releases the caller's place. */
  #release: () => void = () => undefined;
  #over = false;
  #question: Question | null = null;

  constructor(asked: IncomingRequest, answerer: Answerer, wiring: AnsweringWiring) {
    const { wire } = wiring;
    this.#asked = asked;
    this.#answerer = answerer;
    this.#wiring = wiring;
    const send = (frame: Frame) => wire.send(asked.reply, frame);
    this.#replies = new Outgoing(send);
    const tellReceived = (count: number) => send(signalFrame('received', String(count)));
    this.#frames = new Incoming({ tellReceived, turn: wire.turn });
  }

  get reply(): string {
    return this.#asked.reply;
  }

  get asker(): string {
    return this.#asked.asker;
  }

  isAskedBy(end: string): boolean {
    return this.#asked.asker === end;
  }

  isAnsweredBy(answerer: Answerer): boolean {
    return this.#answerer === answerer;
  }

  /** Takes the first frame. */
  begin(frame: Frame): void {
    try {
      this.#release = this.#wiring.senders.begin(this.#asked.asker);
    } catch (thrown) {
      this.#refuse(thrown);
      return;
    }
    this.hear(frame);
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

  /** Ends the request at once, so that a later frame of the question is not taken for a complete one. */
  #refuse(thrown: unknown): void {
    this.#sendError(thrown);
    this.#end();
  }

  giveUp(): void {
    const message = `Too many unfinished requests on "${this.#asked.subject}".`;
    this.#refuse(new SvcError('rate_limited', message, { hint: 'Try again shortly.' }));
  }

  timeOut(): void {
    if (this.#question === null) {
      this.#refuse(new SvcError('timeout', `The request "${this.#asked.subject}" was incomplete at its deadline.`));
    } else {
      this.abandon(new SvcError('timeout', `"${this.#asked.subject}" was not answered before its deadline.`));
    }
  }

  /** The caller no longer waits for the reply. */
  abandon(reason?: SvcError): void {
    if (this.#over) return;
    this.#end();
    this.#question?.abort(reason);
  }

  #received(frame: Frame): void {
    try {
      this.#replies.received(frame);
    } catch {
      this.abandon();
    }
  }

  #take(frame: Frame): void {
    if (this.#over || this.#question !== null) return;
    try {
      if (this.#answerer.isFull) throw this.#full();
      const payload = this.#frames.take(frame);
      if (payload === null) {
        this.#waitForMore(frame);
        return;
      }
      this.#wiring.unfinished.ended(this);
      this.deadline = performance.now() + answerMaxMs;
      this.#question = new Question(this, { subject: this.#asked.subject, payload, headers: frame.headers });
    } catch (thrown) {
      this.#refuse(thrown);
      return;
    }
    this.#handle(this.#question);
  }

  #waitForMore({ payload }: Frame): void {
    this.deadline = Math.min(performance.now() + frameMaxMs, this.#begunAt + questionMaxMs);
    this.#wiring.unfinished.grew(this, payload.byteLength);
  }

  #full(): SvcError {
    const message = `"${this.#asked.subject}" has reached its limit of concurrent requests.`;
    return new SvcError('rate_limited', message, { hint: 'Try again shortly.' });
  }

  #handle(question: Question): void {
    this.#answerer.began();
    const settle = (then: () => void) => {
      this.#answerer.settled();
      this.#release();
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
    const error = Buffer.from(JSON.stringify(errorOnBus(thrown, this.#wiring.wire.logger)));
    this.#sendLast(framesOf('error', error, {}));
  }

  #sendLast(frames: readonly Frame[]): void {
    void this.#replies.giveLast(frames).then(() => this.#end());
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#wiring.unfinished.ended(this);
    // A running handler keeps its place until it returns: a cancel must not make room for the next request.
    if (this.#question === null) this.#release();
    this.#replies.end();
    this.#wiring.onEnd(this);
  }
}

function reasonOf({ payload }: Frame): SvcError | undefined {
  return payload.byteLength === 0 ? undefined : new SvcError('timeout', textOf(payload).slice(0, reasonMaxLength));
}
