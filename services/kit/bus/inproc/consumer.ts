import type { Logger } from '../../log.ts';
import type { Subscription } from '../bus.ts';
import { type BatchHandler, handleBatch, retryFirstMs, retryMaxMs } from '../handle-batch.ts';

export interface Batch {
  readonly records: readonly Uint8Array[];
  /** Position of a consumer that has handled this batch. */
  readonly end: number;
}

/** Supplies batches and stores the position of handled ones. */
interface Source {
  readonly next: () => Batch | null;
  readonly done: (batch: Batch) => Promise<unknown>;
}

interface Handler {
  readonly handle: BatchHandler;
  working: Promise<boolean> | null;
}

/** One named consumer of a stream: one batch at a time, its handlers in turn. */
export class Consumer {
  readonly #name: string;
  readonly #logger: Logger;
  readonly #source: Source;
  #handlers: Handler[] = [];
  #running = false;
  #endPause: (() => void) | null = null;

  constructor(name: string, logger: Logger, source: Source) {
    this.#name = name;
    this.#logger = logger;
    this.#source = source;
  }

  add(handle: BatchHandler): Subscription {
    const handler: Handler = { handle, working: null };
    this.#handlers.push(handler);
    this.wake();
    return { stop: () => this.#remove(handler) };
  }

  /** New records may be available. */
  wake(): void {
    if (this.#running || this.#handlers.length === 0) return;
    this.#running = true;
    void this.#run();
  }

  async close(): Promise<void> {
    await Promise.all(this.#handlers.map((handler) => this.#remove(handler)));
  }

  async #remove(handler: Handler): Promise<void> {
    this.#handlers = this.#handlers.filter((other) => other !== handler);
    if (this.#handlers.length === 0) this.#endPause?.();
    await handler.working;
  }

  async #run(): Promise<void> {
    // Lets the caller that appended or subscribed continue first.
    await Promise.resolve();
    let retryMs = retryFirstMs;
    for (let handler = this.#inTurn(); handler !== undefined; handler = this.#inTurn()) {
      const batch = this.#next();
      if (batch === null) break;
      handler.working = batch === 'unreadable' ? Promise.resolve(false) : this.#handled(handler, batch);
      const done = await handler.working;
      handler.working = null;
      if (done) {
        retryMs = retryFirstMs;
      } else {
        await this.#pause(retryMs);
        retryMs = Math.min(retryMs * 2, retryMaxMs);
      }
    }
    this.#running = false;
  }

  #next(): Batch | 'unreadable' | null {
    try {
      return this.#source.next();
    } catch (thrown) {
      this.#logger.error({ consumer: this.#name, err: thrown }, 'failed to read a batch, which will be retried');
      return 'unreadable';
    }
  }

  #handled({ handle }: Handler, batch: Batch): Promise<boolean> {
    const done = () => this.#source.done(batch);
    return handleBatch(handle, { name: this.#name, records: batch.records, logger: this.#logger, done });
  }

  #inTurn(): Handler | undefined {
    const handler = this.#handlers.shift();
    if (handler !== undefined) this.#handlers.push(handler);
    return handler;
  }

  async #pause(waitMs: number): Promise<void> {
    if (this.#handlers.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = null;
  }
}
