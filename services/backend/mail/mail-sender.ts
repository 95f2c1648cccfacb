import type { Subscription } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Condition, FieldValues, Node, Selection, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { type MailEngine, type Outcome, refused } from './mail-engine.ts';
import type { MailState } from './mail-state.ts';
import { readContent } from './queue-mail.ts';

type MailNeeds = WithGraph & WithSecrets & WithLog;

export interface WithMail {
  /** Woken after each commit that queued mail. */
  readonly mailSender: Pick<MailSender, 'wake'>;
}

export interface MailTimes {
  /** How often the graph is searched for mail that is due, or that another backend left. */
  readonly lookEveryMs: number;
  readonly firstRetryMs: number;
  readonly retryMaxMs: number;
  /** After that, mail that was never accepted is given up. */
  readonly keptMs: number;
  /** How long a claim lasts beyond the deadline of the attempt. */
  readonly claimMarginMs: number;
  /** What a stop leaves to running attempts. */
  readonly stopGraceMs: number;
}

export const usualTimes: MailTimes = {
  lookEveryMs: 10_000,
  firstRetryMs: 30_000,
  retryMaxMs: 15 * 60_000,
  keptMs: 2 * 24 * 60 * 60_000,
  claimMarginMs: 30_000,
  stopGraceMs: 3_000,
};

/** Attempts of one backend at once. */
const atOnce = 4;
/** Ended claims handled in one search. */
const sliceMax = 100;

/**
 * Sends the mail in the graph. A backend claims a mail before it sends it, so several may run. A mail is repeated only
 * after an attempt that certainly failed.
 */
export class MailSender {
  readonly #backend: MailNeeds;
  readonly #engine: MailEngine;
  readonly #times: MailTimes;
  readonly #logger: Logger;
  readonly #workers = new Set<Promise<void>>();
  readonly #aborting = new AbortController();
  #isRunning = false;

  constructor(backend: MailNeeds, engine: MailEngine, times: MailTimes = usualTimes) {
    this.#backend = backend;
    this.#engine = engine;
    this.#times = times;
    this.#logger = backend.log('mail');
  }

  start(): Subscription {
    this.#isRunning = true;
    const timer = setInterval(() => this.wake(), this.#times.lookEveryMs).unref();
    this.wake();
    return {
      stop: async () => {
        clearInterval(timer);
        await this.#stop();
      },
    };
  }

  /** Sends what is due. Without it, mail waits for the next regular search. */
  wake(): void {
    if (!this.#isRunning || this.#workers.size >= atOnce) return;
    const worker: Promise<void> = this.#work()
      .catch((err: unknown) => this.#logger.warn({ err }, 'could not search for mail, and will try again'))
      .finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #stop(): Promise<void> {
    this.#isRunning = false;
    const grace = setTimeout(() => this.#aborting.abort(), this.#times.stopGraceMs);
    await Promise.all(this.#workers);
    clearTimeout(grace);
  }

  async #work(): Promise<void> {
    await this.#endClaims();
    while (this.#isRunning) {
      const mail = await this.#claim();
      if (mail === null) return;
      // Another worker takes the next mail meanwhile.
      this.wake();
      await this.#send(mail);
    }
  }

  /** The next mail whose turn it is, claimed for this backend; null if none is due. */
  async #claim(): Promise<Node<'mail'> | null> {
    const due = (): Selection<'mail'> => ({
      ...{ type: 'mail', anchor: null, orderBy: 'turn', limit: 1 },
      where: [inState('waiting'), { field: 'dueAt', below: Date.now() + 1 }],
    });
    // Most searches find nothing, and a transaction would wait for other changes.
    if ((await this.#backend.graph.select(due())).nodes.length === 0) return null;
    const claimMs = this.#engine.deadlineMs + this.#times.claimMarginMs;
    return await this.#backend.graph.write(async (transaction) => {
      const [next] = (await transaction.select(due())).nodes;
      if (next === undefined) return null;
      const changes = { state: 'sending', attempts: next.attempts + 1, dueAt: Date.now() + claimMs };
      return await transaction.update('mail', next.id, changes, { anchor: null });
    });
  }

  async #send(mail: Node<'mail'>): Promise<void> {
    const outcome = await this.#attempt(mail);
    const changes = this.#changesAfter(mail, outcome);
    this.#report(mail, outcome, changes.state);
    try {
      // Another version: the claim ended, and the mail has its outcome already.
      const options = { anchor: null, ifVersion: mail.version };
      await this.#backend.graph.write((transaction) => transaction.update('mail', mail.id, changes, options));
    } catch (err) {
      // It stays claimed, and counts as unsure when the claim ends.
      this.#logger.warn({ err, mail: mail.id }, 'could not store the outcome of a mail');
    }
  }

  async #attempt(mail: Node<'mail'>): Promise<Outcome> {
    if (mail.expiresAt <= Date.now()) {
      return refused(mail.lastError ?? 'its link expired before it could be sent', { isFinal: true });
    }
    const content = this.#contentOf(mail);
    if ('kind' in content) return content;
    const within = AbortSignal.any([this.#aborting.signal, AbortSignal.timeout(this.#engine.deadlineMs)]);
    try {
      return await this.#engine.send({ id: mail.id, ...content }, within);
    } catch (thrown) {
      return { kind: 'unknown', reason: withBugReported(thrown, this.#logger).message };
    }
  }

  /** Without the key that encrypted it, the content cannot be read, and nothing is sent. */
  #contentOf(mail: Node<'mail'>): ReturnType<typeof readContent> | Outcome {
    try {
      return readContent(this.#backend, mail);
    } catch (thrown) {
      return refused(withBugReported(thrown, this.#logger).message);
    }
  }

  #changesAfter(mail: Node<'mail'>, outcome: Outcome): FieldValues<'mail'> & { readonly state: MailState } {
    if (outcome.kind === 'accepted') return { state: 'sent', content: null, lastError: null };
    const { kind, reason: lastError } = outcome;
    if (kind === 'unknown') return { state: 'unsure', content: null, lastError };
    const dueAt = Date.now() + retryDelayMs(mail.attempts, this.#times);
    const endsAt = Math.min(mail.expiresAt, mail.createdAt + this.#times.keptMs);
    if (outcome.isFinal || dueAt >= endsAt) return { state: 'failed', content: null, lastError };
    return { state: 'waiting', dueAt, lastError };
  }

  /** The log gets neither the address nor the text. */
  #report({ id, attempts }: Node<'mail'>, outcome: Outcome, state: MailState): void {
    const reason = outcome.kind === 'accepted' ? {} : { reason: outcome.reason };
    const fields = { mail: id, attempts, ...reason };
    if (state === 'sent') this.#logger.debug(fields, 'sent a mail');
    else if (state === 'waiting') this.#logger.warn(fields, 'could not send a mail, and will try again');
    else if (state === 'unsure') this.#logger.error(fields, 'a mail may have been sent, and is not repeated');
    else this.#logger.error(fields, 'could not send a mail, and gave up');
  }

  /** The backend of such a claim ended, or could not store the outcome: the mail may have been sent. */
  async #endClaims(): Promise<void> {
    const { graph } = this.#backend;
    const ended = (): Selection<'mail'> => ({
      ...{ type: 'mail', anchor: null, limit: sliceMax },
      where: [inState('sending'), { field: 'dueAt', below: Date.now() }],
    });
    const { nodes } = await graph.select(ended());
    if (nodes.length === 0) return;
    const lastError = 'the backend ended while it sent the mail';
    await graph.write(async (transaction) => {
      for (const { id } of (await transaction.select(ended())).nodes) {
        await transaction.update('mail', id, { state: 'unsure', content: null, lastError }, { anchor: null });
      }
    });
    for (const { id } of nodes) this.#logger.error({ mail: id }, 'a mail may have been sent, and is not repeated');
  }
}

function inState(state: MailState): Condition<'mail'> {
  return { field: 'state', equals: state };
}

/** Doubles up to a maximum. Half of it is random, so that mails do not come back all at once. */
export function retryDelayMs(attempts: number, times: Pick<MailTimes, 'firstRetryMs' | 'retryMaxMs'>): number {
  const { firstRetryMs, retryMaxMs } = times;
  const full = Math.min(retryMaxMs, firstRetryMs * 2 ** Math.min(attempts - 1, 30));
  return Math.round(full * (0.5 + Math.random() / 2));
}
