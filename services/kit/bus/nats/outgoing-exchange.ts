import { anyBackend, isBackendEnd } from '../../../contracts/bus/ends.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import { AnswererGone, NobodyAnswers, type Reply, type RequestOptions } from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { parseErrorFromBus } from '../error-on-bus.ts';
import type { Deadlined } from '../in-flight.ts';
import { Incoming, Outgoing } from './flow.ts';
import { type Frame, framesOf, signalFrame, textOf } from './frame.ts';
import { controlSubject, replySubject } from './subjects.ts';

/** What `Asking` needs of its connection. */
export interface Wire {
  /** This connection's end of the bus. */
  readonly own: string;
  readonly send: (subject: string, frame: Frame, reply?: string) => void;
  readonly logger: Logger;
  /** Counts how often the outbox has been flushed. */
  readonly turn: () => number;
}

export interface OutgoingRequest {
  readonly id: string;
  readonly subject: string;
  /** The responder that the subject names. */
  readonly answerer: string;
  readonly payload: Uint8Array;
  readonly options: RequestOptions;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: SvcError) => void;
}

/**
 * One request of this connection, from the question to the final reply, error, deadline or cancel, whichever comes
 * first.
 */
export class OutgoingExchange implements Deadlined {
  readonly #asked: OutgoingRequest;
  readonly #wire: Wire;
  readonly #control: string;
  readonly #question: Outgoing;
  /**
   * Frames to send once a backend accepts the question. A backend that refuses it would count them against this sender.
   */
  #held: readonly Frame[];
  readonly #replies: Incoming;
  readonly #deadlineLast: number;
  readonly #onEnd: (asking: OutgoingExchange) => void;
  deadline: number;
  place = -1;
  #acceptedBy: string | null = null;
  #hasInquired = false;
  #heardLast = false;

  constructor(asked: OutgoingRequest, wire: Wire, onEnd: (asking: OutgoingExchange) => void) {
    const { id, subject, answerer, options } = asked;
    const { timeoutMs, timeoutMaxMs = timeoutMs, signal, headers } = options;
    const question = framesOf('question', copyPayload(asked.payload), copyHeaders(headers));
    const now = performance.now();
    this.#asked = asked;
    this.#wire = wire;
    this.#onEnd = onEnd;
    this.deadline = now + Math.min(timeoutMs, timeoutMaxMs);
    this.#deadlineLast = now + timeoutMaxMs;
    this.#control = controlSubject({ answerer, asker: wire.own, id });
    const tellReceived = (count: number) => wire.send(this.#control, signalFrame('received', String(count)));
    this.#replies = new Incoming({ tellReceived, turn: wire.turn });
    const reply = replySubject({ answerer, asker: wire.own, id });
    let first = true;
    // The first frame finds the responder; the other frames go to that responder.
    this.#question = new Outgoing((frame) => {
      wire.send(first ? subject : this.#control, frame, first ? reply : undefined);
      first = false;
    });
    signal?.addEventListener('abort', this);
    this.#held = answerer === anyBackend ? question.slice(1) : [];
    void this.#question.giveLast(question.slice(0, question.length - this.#held.length));
  }

  get id(): string {
    return this.#asked.id;
  }

  /** The responder. A reply counts only from this end. */
  get answerer(): string {
    return this.#asked.answerer;
  }

  /** Whether the responder has sent its last frame. After an early end, frames may still be in transit. */
  get heardLast(): boolean {
    return this.#heardLast;
  }

  /** Until one responder has accepted, the request may belong to any of several. */
  isAnsweredBy(end: string): boolean {
    const { answerer } = this.#asked;
    if (answerer !== anyBackend) return answerer === end;
    return this.#acceptedBy === null ? isBackendEnd(end) : this.#acceptedBy === end;
  }

  /** False when the responder breaks the protocol, which ends the request. */
  hear(frame: Frame): boolean {
    try {
      this.#hear(frame);
      return true;
    } catch (thrown) {
      this.#fail(thrown instanceof SvcError ? thrown : malformed(this.#asked.subject, thrown));
      this.#cancel('it is malformed');
      return false;
    }
  }

  hearNobody(): void {
    this.#heardLast = true;
    if (this.#hasInquired) this.answererGone();
    else this.#fail(new NobodyAnswers(this.#asked.subject));
  }

  /** Asks the responder whether it still works on the request. If that end has disconnected, NATS itself answers. */
  inquire(): void {
    const { answerer, id } = this.#asked;
    if (answerer === anyBackend) return;
    this.#hasInquired = true;
    this.#wire.send(this.#control, signalFrame('waiting'), replySubject({ answerer, asker: this.#wire.own, id }));
  }

  /** The caller's signal has aborted. */
  handleEvent(): void {
    this.#fail(new SvcError('cancelled', 'The request was cancelled.'));
    this.#cancel('');
  }

  timeOut(): void {
    const message = `"${this.#asked.subject}" gave no final reply before the deadline.`;
    this.#fail(new SvcError('timeout', message));
    this.#cancel(message);
  }

  /** The responder's connection has ended. */
  answererGone(): void {
    this.#fail(new AnswererGone(this.#asked.subject));
  }

  /** The caller's connection has ended. */
  abandon(): void {
    this.#fail(new SvcError('unavailable', `The connection that asked "${this.#asked.subject}" has ended.`));
  }

  #hear(frame: Frame): void {
    switch (frame.kind) {
      case 'accepted':
        this.#accept(textOf(frame.payload));
        return;
      case 'unknown':
        this.#heardLast = true;
        this.answererGone();
        return;
      case 'received':
        this.#question.received(frame);
        return;
      case 'error':
        this.#heardLast = true;
        this.#fail(parseErrorFromBus(frame.payload));
        return;
      case 'interim':
      case 'final': {
        this.deadline = Math.min(performance.now() + this.#asked.options.timeoutMs, this.#deadlineLast);
        const payload = this.#replies.take(frame);
        if (payload === null) return;
        if (frame.kind === 'interim') this.#deliver({ payload, headers: frame.headers });
        else this.#succeed({ payload, headers: frame.headers });
        return;
      }
      case 'message':
      case 'question':
      case 'cancel':
      case 'waiting':
        throw malformed(this.#asked.subject, frame.kind);
    }
  }

  /**
   * The payload names the backend; the subject only says that some backend sent it. That suffices, because NATS lets
   * only backends publish as `backend`, and backends trust each other.
   */
  #accept(end: string): void {
    const { answerer, subject } = this.#asked;
    if (answerer !== anyBackend || !isBackendEnd(end)) throw malformed(subject, 'accepted');
    this.#acceptedBy = end;
    void this.#question.giveLast(this.#held);
    this.#held = [];
  }

  #deliver(reply: Reply): void {
    try {
      this.#asked.options.onInterim?.(reply);
    } catch (thrown) {
      this.#wire.logger.error({ err: thrown }, 'failed to take an interim reply');
    }
  }

  #succeed(reply: Reply): void {
    this.#heardLast = true;
    this.#end();
    this.#asked.resolve(reply);
  }

  #fail(error: SvcError): void {
    this.#end();
    this.#asked.reject(error);
  }

  /** Sends the reason with it; empty when the caller cancelled. */
  #cancel(reason: string): void {
    this.#wire.send(this.#control, signalFrame('cancel', reason));
  }

  #end(): void {
    this.#asked.options.signal?.removeEventListener('abort', this);
    this.#question.end();
    this.#onEnd(this);
  }
}

function malformed(subject: string, cause: unknown): SvcError {
  return new SvcError('internal', `The reply to "${subject}" is malformed.`, { cause });
}
