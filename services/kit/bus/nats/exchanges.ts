import type { Msg } from '@nats-io/transport-node';
import { anyBackend, endsOf } from '../../../contracts/bus/ends.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Reply, RequestOptions } from '../bus.ts';
import { InFlight } from '../in-flight.ts';
import type { Senders } from '../senders.ts';
import { Answering } from './answering.ts';
import { readFrame, saysNobodyListens, signalFrame, sizeOf } from './frame.ts';
import type { Listener } from './listener.ts';
import { OutgoingExchange, type Wire } from './outgoing-exchange.ts';
import { RandomIds } from './random-ids.ts';
import { Stragglers } from './stragglers.ts';
import { readControlSubject, readReplySubject, replySubject } from './subjects.ts';
import { Unfinished } from './unfinished.ts';

/** A subject without a responder; NATS itself says so. */
export const nobody = 'nobody';

/**
 * How long a caller waits before it inquires. No backend may have seen the responder leave, because their connections
 * were lost too.
 */
const inquireEveryMs = 1000;

/** All requests from and to this connection, from the first frame to the last. */
export class Exchanges {
  readonly #wire: Wire;
  readonly #senders: Senders;
  readonly #stragglers = new Stragglers();
  readonly #unfinished: Unfinished;
  readonly #asking = new InFlight<OutgoingExchange>();
  readonly #asked = new Map<string, OutgoingExchange>();
  readonly #answering = new InFlight<Answering>();
  /** By the subject that the reply goes to. */
  readonly #answers = new Map<string, Answering>();
  readonly #ids = new RandomIds();
  /** One timer for all requests: those that were open at its last tick have waited long enough to inquire. */
  #inquiries: NodeJS.Timeout | null = null;
  #waiting: readonly OutgoingExchange[] = [];

  constructor(wire: Wire, senders: Senders, unfinished = new Unfinished()) {
    this.#wire = wire;
    this.#senders = senders;
    this.#unfinished = unfinished;
  }

  /** Names a request or message of this connection. */
  nextId(): string {
    return this.#ids.next();
  }

  ask(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (options.signal?.aborted) throw new SvcError('cancelled', 'The request was cancelled.');
      const answerer = endsOf(subject).answerer ?? nobody;
      const id = this.nextId();
      const asking = new OutgoingExchange(
        { id, subject, answerer, payload, options, resolve, reject },
        this.#wire,
        (ended) => {
          this.#asked.delete(id);
          this.#asking.done(ended);
          if (!ended.heardLast) this.#stragglers.expect(id, answerer);
        },
      );
      this.#asked.set(id, asking);
      this.#asking.begin(asking);
      // The timer does not keep the process alive.
      this.#inquiries ??= setInterval(() => this.#inquire(), inquireEveryMs).unref();
    });
  }

  #inquire(): void {
    const waiting = this.#asking.which(() => true);
    for (const asking of this.#waiting) if (this.#asked.has(asking.id)) asking.inquire();
    this.#waiting = waiting;
    if (waiting.length > 0 || this.#inquiries === null) return;
    clearInterval(this.#inquiries);
    this.#inquiries = null;
  }

  hearReply(message: Msg): void {
    const ends = readReplySubject(message.subject);
    if (ends === null || this.#senders.isRefused(ends.answerer)) return;
    const asking = this.#asked.get(ends.id);
    // NATS lets a sender name only itself as the responder, so the subject proves the sender. An id proves nothing:
    // other ends may know it.
    if (asking === undefined || ends.answerer !== asking.answerer) {
      if (!this.#stragglers.take(ends)) this.#senders.spend(ends.answerer, 'stray', sizeOf(message));
    } else if (saysNobodyListens(message)) {
      asking.hearNobody();
    } else {
      const frame = readFrame(message);
      if (frame === null || !asking.hear(frame)) this.#senders.spend(ends.answerer, 'stray', sizeOf(message));
    }
  }

  hearQuestion(message: Msg, listener: Listener): void {
    const { subject } = message;
    const expected = endsOf(subject);
    if (expected.asker !== null && !this.#senders.spend(expected.asker, 'question', sizeOf(message))) return;
    const { reply = '' } = message;
    const ends = readReplySubject(reply);
    // A caller must name its own reply subject. Otherwise the reply would reach another caller's request.
    if (ends === null || ends.answerer !== expected.answerer) return;
    if (expected.asker !== null && expected.asker !== ends.asker) return;
    const frame = readFrame(message);
    if (frame?.kind !== 'question' || this.#answers.has(reply)) return;
    const answering = new Answering({ subject, reply, asker: ends.asker }, listener, {
      ...{ wire: this.#wire, unfinished: this.#unfinished, senders: this.#senders },
      onEnd: (ended) => {
        this.#answers.delete(reply);
        this.#answering.done(ended);
      },
    });
    this.#answers.set(reply, answering);
    this.#answering.begin(answering);
    answering.begin(frame);
    // The caller sends the rest of a question that is not refused.
    if (expected.answerer === anyBackend && this.#answers.has(reply)) {
      this.#wire.send(reply, signalFrame('accepted', this.#wire.own));
    }
  }

  hearControl(message: Msg): void {
    const ends = readControlSubject(message.subject);
    // The caller in the subject pays before the frame is read: several backends receive it, and only one works on the
    // question.
    if (ends === null || !this.#senders.spend(ends.asker, 'control', sizeOf(message))) return;
    const frame = readFrame(message);
    if (frame === null) return;
    const answering = this.#answers.get(replySubject(ends));
    if (answering !== undefined) answering.hear(frame);
    // A question unknown here may belong to another backend.
    else if (frame.kind === 'waiting' && ends.answerer === this.#wire.own) {
      this.#wire.send(replySubject(ends), signalFrame('unknown'));
    }
  }

  /** An end of the bus has disconnected: its replies and requests are over. */
  hearGone(end: string): void {
    for (const asking of this.#asking.which((one) => one.isAnsweredBy(end))) asking.answererGone();
    for (const answering of this.#answering.which((one) => one.isAskedBy(end))) answering.abandon();
  }

  /** The connection has ended. */
  abandon(): void {
    for (const asking of this.#asking.which(() => true)) asking.abandon();
    for (const answering of this.#answering.which(() => true)) answering.abandon();
  }

  /** Resolves when no request is open; each has its own deadline. */
  async none(): Promise<void> {
    await Promise.all([this.#asking.none(() => true), this.#answering.none(() => true)]);
  }

  noneAnsweredBy(listener: Listener): Promise<void> {
    return this.#answering.none((answering) => answering.isAnsweredBy(listener));
  }
}
