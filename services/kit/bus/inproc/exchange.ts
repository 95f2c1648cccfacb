import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import { AnswererGone, type Responder as Handle, type Headers, type Reply, type RequestOptions } from '../bus.ts';
import { copyHeaders, copyPayload } from '../copies.ts';
import { errorFromBus, errorOnBus } from '../error-on-bus.ts';
import type { Deadlined, InFlight } from '../in-flight.ts';
import { Question } from '../question.ts';
import type { Senders } from '../senders.ts';
import type { Turn, Turns } from '../turns.ts';

/** One end of an exchange: a connection. */
export interface ExchangeEnd {
  readonly identity: Identity;
  /** Its name as an end of requests. */
  readonly ownEnd: string;
}

/** The responder's side of an exchange. */
export interface Answerer {
  readonly party: ExchangeEnd;
  readonly handle: Handle;
  /** Its handler has returned. */
  settled(): void;
}

export interface ExchangeNeeds {
  readonly turns: Turns;
  readonly inFlight: InFlight<Exchange>;
  readonly senders: Senders;
  readonly logger: Logger;
}

interface PendingRequest {
  readonly asker: ExchangeEnd;
  readonly answerer: Answerer;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly options: RequestOptions;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: SvcError) => void;
}

/** Undelivered interim replies before the responder must wait. */
const interimWindow = 64;
/** Undelivered interim replies before a responder that does not wait is refused. */
const interimWaitingMax = 10_000;
const sent = Promise.resolve();

/** One request, from the question to the final reply, error, deadline or cancel, whichever comes first. */
export class Exchange implements Turn, Deadlined {
  readonly #asked: PendingRequest;
  readonly #needs: ExchangeNeeds;
  readonly #question: Question;
  readonly #deadlineLast: number;
  /** Releases the caller's place. */
  readonly #release: () => void;
  deadline: number;
  place = -1;
  #over = false;
  #interimsWaiting = 0;
  #windowOpened: (() => void)[] = [];
  #final: (() => void) | null = null;

  constructor(asked: PendingRequest, needs: ExchangeNeeds) {
    const { timeoutMs, timeoutMaxMs = timeoutMs, signal, headers } = asked.options;
    this.#asked = asked;
    this.#needs = needs;
    this.#question = new Question(this, {
      subject: asked.subject,
      payload: copyPayload(asked.payload),
      headers: copyHeaders(headers),
    });
    const now = performance.now();
    this.deadline = now + Math.min(timeoutMs, timeoutMaxMs);
    this.#deadlineLast = now + timeoutMaxMs;
    this.#release = needs.senders.ask(asked.asker.ownEnd, asked.payload.byteLength);
    signal?.addEventListener('abort', this);
    needs.inFlight.begin(this);
    needs.turns.later(this);
  }

  concerns(party: ExchangeEnd): boolean {
    return this.#asked.asker === party || this.#asked.answerer.party === party;
  }

  isAnsweredBy(answerer: Answerer): boolean {
    return this.#asked.answerer === answerer;
  }

  /** Delivers the question to the responder. */
  run(): void {
    if (this.#over) {
      this.#settled();
      return;
    }
    const { handle } = this.#asked.answerer;
    try {
      handle(this.#question).then(
        (reply) => this.#answered(reply),
        (thrown: unknown) => this.#refused(thrown),
      );
    } catch (thrown) {
      this.#refused(thrown);
    }
  }

  interim(payload: Uint8Array, headers: Headers | undefined): Promise<void> {
    if (this.#over || this.#final !== null) return sent;
    if (this.#interimsWaiting >= interimWaitingMax) {
      return Promise.reject(new SvcError('rate_limited', 'Too many interim replies are waiting for delivery.'));
    }
    try {
      const reply = { payload: copyPayload(payload), headers: copyHeaders(headers) };
      this.#needs.turns.later({ run: () => this.#deliverInterim(reply) });
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    this.deadline = Math.min(performance.now() + this.#asked.options.timeoutMs, this.#deadlineLast);
    if (++this.#interimsWaiting < interimWindow) return sent;
    return new Promise((resolve) => this.#windowOpened.push(resolve));
  }

  /** The caller's signal has aborted. */
  handleEvent(): void {
    this.#fail(new SvcError('cancelled', 'The request was cancelled.'));
    this.#question.abort();
  }

  timeOut(): void {
    const message = `"${this.#asked.subject}" gave no final reply before the deadline.`;
    this.#fail(new SvcError('timeout', message));
    this.#question.abort(new SvcError('timeout', message));
  }

  /** The connection of one end has ended. */
  abandon(gone: ExchangeEnd): void {
    const { asker, subject } = this.#asked;
    const askerGone = `The connection that asked "${subject}" has ended.`;
    this.#fail(gone === asker ? new SvcError('unavailable', askerGone) : new AnswererGone(subject));
    this.#question.abort();
  }

  #answered(reply: Reply): void {
    this.#settled();
    if (this.#over) return;
    try {
      const own = { payload: copyPayload(reply.payload), headers: copyHeaders(reply.headers) };
      this.#finish(() => this.#asked.resolve(own));
    } catch (thrown) {
      this.#sendError(thrown);
    }
  }

  #refused(thrown: unknown): void {
    this.#settled();
    if (!this.#over) this.#sendError(thrown);
  }

  #sendError(thrown: unknown): void {
    const error = errorFromBus(errorOnBus(thrown, this.#needs.logger));
    this.#finish(() => this.#asked.reject(error));
  }

  #settled(): void {
    this.#asked.answerer.settled();
    this.#release();
  }

  /** The final reply comes after every interim one. */
  #finish(final: () => void): void {
    if (this.#interimsWaiting > 0) {
      this.#final = final;
      return;
    }
    this.#end();
    final();
  }

  #fail(error: SvcError): void {
    this.#end();
    this.#asked.reject(error);
  }

  #end(): void {
    this.#over = true;
    this.#asked.options.signal?.removeEventListener('abort', this);
    this.#needs.inFlight.done(this);
  }

  #deliverInterim(reply: Reply): void {
    this.#interimsWaiting--;
    try {
      if (!this.#over) this.#asked.options.onInterim?.(reply);
    } catch (thrown) {
      this.#needs.logger.error({ err: thrown }, 'failed to take an interim reply');
    }
    if (this.#interimsWaiting > 0) return;
    for (const opened of this.#windowOpened.splice(0)) opened();
    if (this.#final !== null && !this.#over) this.#finish(this.#final);
  }
}
