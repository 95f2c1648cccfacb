import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { saysNobodyListens } from './frame.ts';
import { whoAmISubject, whoIsSubject } from './grants.ts';
import { toldSubject } from './subjects.ts';

/** A client subscribes to its inbox as soon as it is let in. */
const rememberedMs = 10_000;
/** More clients than can be let in within that time; the oldest is forgotten first. */
const rememberedMax = 20_000;
/** The pause before a client that does not listen yet is told again: at first, and at most. */
const pauseFirstMs = 4;
const pauseMaxMs = 500;
/** A client of the version before asks once each time it connects. */
const answersMax = 4;
/** Questions do not say who asks. NATS drops those beyond these, until the next client of the version before is let in. */
const questionsMax = 200;

interface Introduction {
  readonly inbox: string;
  readonly name: string;
  readonly until: number;
  /** How often it was told. */
  count: number;
}

/** Tells clients that this backend has let in who they are, each on its own inbox and on no subject that a client could name. */
export class Introductions {
  readonly #all = new Map<string, Introduction>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #connection: NatsConnection | null = null;
  #own = '';
  #isMapped = false;
  #questions: Subscription | null = null;

  /** The backend's connection to the bus and its inbox there. */
  async open(connection: NatsConnection, inbox: string): Promise<void> {
    this.#own = `${inbox}.introduced`;
    this.#connection = connection;
    connection.subscribe(`${this.#own}.*`, {
      callback: (error, message) => {
        if (error === null) this.#hearNobody(message);
      },
    });
    this.#hearQuestions(connection);
    // Only a bus that maps the subject lets this backend hear its own question.
    connection.publish(whoAmISubject, '', { reply: this.#mappedReply });
    await connection.flush();
  }

  /** Whether a client of the version before would be answered. */
  get answersQuestions(): boolean {
    return this.#isMapped;
  }

  /** Remembers a client as it is let in; one that does not ask is told. */
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

  get #mappedReply(): string {
    return `${this.#own}.mapped`;
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
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#tell(introduction);
      },
      Math.min(pauseFirstMs * 2 ** introduction.count++, pauseMaxMs),
    );
    this.#timers.add(timer);
    timer.unref();
  }

  #tell(introduction: Introduction): void {
    const { inbox, name, until } = introduction;
    if (this.#all.get(inbox) !== introduction || performance.now() > until) return;
    this.#connection?.publish(toldSubject(inbox), name, { reply: `${this.#own}.${inbox.split('.')[1]}` });
  }

  /** NATS says by itself that a client does not listen yet. */
  #hearNobody(message: Msg): void {
    const introduction = this.#all.get(`_I.${message.subject.split('.').at(-1)}`);
    if (introduction !== undefined && saysNobodyListens(message)) this.#tellLater(introduction);
  }

  /** A client of the version before asks as NATS itself would answer. Whatever reply it names, the answer goes to its own inbox. */
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

/** Where the client library hears answers: below the inbox, without a wildcard. */
const replyShape = /^(_I\.[0-9A-Za-z]{22})(?:\.[0-9A-Za-z]{1,40}){1,3}$/;
