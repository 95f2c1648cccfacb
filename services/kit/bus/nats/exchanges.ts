import type { Msg } from '@nats-io/transport-node';
import { anyBackend, endsOf } from '../../../contracts/bus/ends.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Reply, RequestOptions } from '../bus.ts';
import { InFlight } from '../in-flight.ts';
import type { Senders } from '../senders.ts';
import { Answering } from './answering.ts';
import { Asking, type Wire } from './asking.ts';
import { readFrame, saysNobodyListens, signalFrame, sizeOf } from './frame.ts';
import type { Listener } from './listener.ts';
import { RandomIds } from './random-ids.ts';
import { Stragglers } from './stragglers.ts';
import { readControlSubject, readReplySubject, replySubject } from './subjects.ts';
import { Unfinished } from './unfinished.ts';

/** Nobody answers on a subject that names no answerer; NATS says so by itself. */
export const nobody = 'nobody';

/** How long one who waits may wait for nobody: of who answers it may be that none of the backends saw it go, as their connections were lost too. */
const inquireEveryMs = 1000;

/** Everything that this connection asks and is asked, from the first frame of each to its last. */
export class Exchanges {
  readonly #wire: Wire;
  readonly #senders: Senders;
  readonly #stragglers = new Stragglers();
  readonly #unfinished: Unfinished;
  readonly #asking = new InFlight<Asking>();
  readonly #asked = new Map<string, Asking>();
  readonly #answering = new InFlight<Answering>();
  /** By the subject that the reply goes to. */
  readonly #answers = new Map<string, Answering>();
  readonly #ids = new RandomIds();
  /** One timer for all: those that were there at its last turn have waited long enough to inquire. */
  #inquiries: NodeJS.Timeout | null = null;
  #waiting: readonly Asking[] = [];

  constructor(wire: Wire, senders: Senders, unfinished = new Unfinished()) {
    this.#wire = wire;
    this.#senders = senders;
    this.#unfinished = unfinished;
  }

  /** Tells what this connection sends apart from all else that is sent. */
  nextId(): string {
    return this.#ids.next();
  }

  ask(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (options.signal?.aborted) throw new SvcError('cancelled', 'The request was cancelled.');
      const answerer = endsOf(subject).answerer ?? nobody;
      const id = this.nextId();
      const asking = new Asking({ id, subject, answerer, payload, options, resolve, reject }, this.#wire, (ended) => {
        this.#asked.delete(id);
        this.#asking.done(ended);
        if (!ended.heardLast) this.#stragglers.expect(id, answerer);
      });
      this.#asked.set(id, asking);
      this.#asking.begin(asking);
      // A process that has nothing else to do does not stay for it.
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
    // NATS lets a sender name only itself as the answerer, so the subject proves who replies. An id proves nothing: other ends may know it.
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
    // Whoever asks can name any reply, and must name its own: else our answer would be heard as one to somebody else's question.
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
    // The asker sends the rest of a question that is not refused.
    if (expected.answerer === anyBackend && this.#answers.has(reply)) {
      this.#wire.send(reply, signalFrame('accepted', this.#wire.own));
    }
  }

  hearControl(message: Msg): void {
    const ends = readControlSubject(message.subject);
    // The asker that the subject names pays before the frame is read: several backends hear it, and only one of them works on the question.
    if (ends === null || !this.#senders.spend(ends.asker, 'control', sizeOf(message))) return;
    const frame = readFrame(message);
    if (frame === null) return;
    const answering = this.#answers.get(replySubject(ends));
    if (answering !== undefined) answering.hear(frame);
    // What one of several backends does not work on may be another's.
    else if (frame.kind === 'waiting' && ends.answerer === this.#wire.own) {
      this.#wire.send(replySubject(ends), signalFrame('unknown'));
    }
  }

  /** An end of the bus is no more: it answers nothing that it was asked, and waits for nothing that it asked. */
  hearGone(end: string): void {
    for (const asking of this.#asking.which((one) => one.isAnsweredBy(end))) asking.answererGone();
    for (const answering of this.#answering.which((one) => one.isAskedBy(end))) answering.abandon();
  }

  /** The connection is no more. */
  abandon(): void {
    for (const asking of this.#asking.which(() => true)) asking.abandon();
    for (const answering of this.#answering.which(() => true)) answering.abandon();
  }

  /** Resolves when nothing is under way; each has a deadline of its own. */
  async none(): Promise<void> {
    await Promise.all([this.#asking.none(() => true), this.#answering.none(() => true)]);
  }

  noneAnsweredBy(listener: Listener): Promise<void> {
    return this.#answering.none((answering) => answering.isAnsweredBy(listener));
  }
}
