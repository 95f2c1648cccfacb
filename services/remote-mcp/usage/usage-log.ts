import type { Principal, UsageRecord } from '../../contracts/bus/messages.ts';
import { streams } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';

type Call = NonNullable<UsageRecord['call']>;

const flushEveryMs = 1000;
/** What one message carries (usageBatch accepts as much). */
const batchMax = 1000;
/** About a minute of a busy remote-mcp whose bus is away; past it the oldest records are lost, and that is said. */
const waitingMax = 100_000;

/** What was called and which keys were used, gathered here and handed to the bus's durable stream about once a second. */
export class UsageLog {
  readonly #link: BusLink;
  readonly #log: Logger;
  #waiting: UsageRecord[] = [];
  #lost = 0;
  #flushing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(link: BusLink, log: Logger) {
    this.#link = link;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#flushOnce(), flushEveryMs).unref();
  }

  keyUsed({ workspace, key }: Principal): void {
    this.#add({ workspace, key, at: Date.now() });
  }

  called({ workspace, key }: Principal, call: Call): void {
    this.#add({ workspace, key, at: Date.now(), call });
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#flushing;
    await this.#flushOnce();
  }

  #add(record: UsageRecord): void {
    this.#waiting.push(record);
    if (this.#waiting.length <= waitingMax) return;
    this.#waiting.splice(0, batchMax);
    this.#lost += batchMax;
  }

  #flushOnce(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    if (this.#lost > 0) {
      this.#log.warn({ lost: this.#lost }, 'lost usage records because the bus was away for too long');
      this.#lost = 0;
    }
    try {
      while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, batchMax));
    } catch (thrown) {
      this.#log.debug({ err: thrown, waiting: this.#waiting.length }, 'kept usage records for later');
    }
  }

  async #send(batch: UsageRecord[]): Promise<void> {
    const { present } = this.#link;
    try {
      if (present === null) throw new SvcError('unavailable', 'remote-mcp is not connected to the bus.');
      await present.bus.stream(streams.usage).append(Buffer.from(JSON.stringify(batch)));
    } catch (thrown) {
      this.#waiting = [...batch, ...this.#waiting];
      throw thrown;
    }
  }
}
