import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { whoAmISubject, whoIsSubject } from './grants.ts';
import { introductionSubject } from './subjects.ts';

/** A client subscribes to its inbox as soon as it is admitted. */
const rememberedMs = 10_000;
/** More clients than can be admitted within that time; the oldest is forgotten first. */
const rememberedMax = 20_000;
/**
 * Repeats after 4 ms, 12 ms, 28 ms and so on, up to 4 s. The client may not listen yet, or the backend's connection may
 * be lost.
 */
const pauseFirstMs = 4;
const tellingsMax = 10;
/** A client of the previous version asks once each time it connects. */
const answersMax = 4;
/**
 * A question does not name its sender. NATS drops further questions until the next client of the previous version is
 * admitted.
 */
const questionsMax = 200;

interface Introduction {
  readonly inbox: string;
  readonly name: string;
  readonly until: number;
  /** How often the client was introduced or answered. */
  count: number;
}

/** Sends each admitted client its identity on its own inbox, never on a subject that a client could name. */
export class Introductions {
  readonly #all = new Map<string, Introduction>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #connection: NatsConnection | null = null;
  #mappedReply = '';
  #isMapped = false;
  #questions: Subscription | null = null;

  /** The backend's connection to the bus and its inbox there. */
  async open(connection: NatsConnection, inbox: string): Promise<void> {
    this.#mappedReply = `${inbox}.mapped`;
    this.#connection = connection;
    this.#hearQuestions(connection);
    // This backend receives its own question only from a bus that maps the subject.
    connection.publish(whoAmISubject, '', { reply: this.#mappedReply });
    await connection.flush();
  }

  /** Whether a client of the previous version would be answered. */
  get answersQuestions(): boolean {
    return this.#isMapped;
  }

  /** Remembers an admitted client; introduces one that does not ask. */
  add(inbox: string, name: string, asks: boolean): void {
    const now = performance.now();
    for (const [oldest, { until }] of this.#all) {
      if (until > now && this.#all.size < rememberedMax) break;
      this.#all.delete(oldest);
    }
    const introduction = { inbox, name, until: now + rememberedMs, count: 0 };
    this.#all.delete(inbox);
    this.#all.set(inbox, introduction);
    if (!asks) this.#tellLater(introduction);
    else if (this.#connection !== null) this.#hearQuestions(this.#connection);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#connection = null;
  }

  #hearQuestions(connection: NatsConnection): void {
    if (this.#questions?.isClosed() === false) this.#questions.unsubscribe();
    this.#questions = connection.subscribe(whoIsSubject, {
      max: questionsMax,
      callback: (error, message) => {
        if (error === null) this.#hearQuestion(message);
      },
    });
  }

  #tellLater(introduction: Introduction): void {
    const pauseMs = pauseFirstMs * 2 ** introduction.count++;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#tell(introduction);
    }, pauseMs);
    this.#timers.add(timer);
    timer.unref();
  }

  #tell(introduction: Introduction): void {
    const { inbox, name, count } = introduction;
    // The client has been admitted again meanwhile.
    if (this.#all.get(inbox) !== introduction || this.#connection === null || this.#connection.isClosed()) return;
    this.#connection.publish(introductionSubject(inbox), name);
    if (count < tellingsMax) this.#tellLater(introduction);
  }

  /**
   * A client of the previous version asks NATS itself. The answer goes to the client's own inbox, whatever reply
   * subject it names.
   */
  #hearQuestion({ reply = '' }: Msg): void {
    if (reply === this.#mappedReply) this.#isMapped = true;
    const [, inbox = ''] = replyShape.exec(reply) ?? [];
    const introduction = this.#all.get(inbox);
    if (introduction === undefined || performance.now() > introduction.until) return;
    if (introduction.count++ < answersMax) {
      this.#connection?.publish(reply, JSON.stringify({ data: { user: introduction.name } }));
    }
  }
}

/** Where the client library receives replies: below the inbox, without a wildcard. */
const replyShape = /^(_I\.[0-9A-Za-z]{22})(?:\.[0-9A-Za-z]{1,40}){1,3}$/;
