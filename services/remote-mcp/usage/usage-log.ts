import { type Principal, type UsageRecord, usageCallsMax } from '../../contracts/bus/messages.ts';
import { streams } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { hourMs } from '../../contracts/usage-hour.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';

/** One call of a tool, and how it ended. */
export type UsedTool = Pick<
  NonNullable<UsageRecord['call']>,
  'mcpServer' | 'tool' | 'skill' | 'outcome' | 'durationMs'
>;

/** A record that can still count further calls. */
interface Tally extends UsageRecord {
  call: NonNullable<UsageRecord['call']>;
}

const flushEveryMs = 1000;
/** Records of one message to the backend (usageBatch accepts as many), and tallies at once. */
const batchMax = 1000;
/** Records that wait while the bus is away. Beyond this number the oldest records are lost, and the log reports it. */
const waitingMax = 100_000;

/**
 * Counts calls and uses of keys, and sends them to the bus's durable stream about once a second. Calls of one second that differ only in their
 * duration become one record.
 */
export class UsageLog {
  readonly #link: BusLink;
  readonly #log: Logger;
  readonly #tallies = new Map<string, Tally>();
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

  called({ workspace, key }: Principal, used: UsedTool): void {
    const at = Date.now();
    const name = `${key} ${used.tool} ${used.skill} ${used.outcome} ${Math.floor(at / hourMs)}`;
    const tally = this.#tallies.get(name);
    if (tally === undefined || tally.call.calls >= usageCallsMax) {
      if (tally !== undefined || this.#tallies.size >= batchMax) this.#endTallies();
      this.#tallies.set(name, { workspace, key, at, call: { ...used, calls: 1 } });
      return;
    }
    tally.at = at;
    tally.call.calls++;
    tally.call.durationMs += used.durationMs;
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#flushing;
    await this.#flushOnce();
  }

  #endTallies(): void {
    for (const tally of this.#tallies.values()) this.#add(tally);
    this.#tallies.clear();
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
    this.#endTallies();
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
