import { setTimeout as wait } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerMessages,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  StorageType,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { randomText } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import type { Stream, Subscription } from '../bus.ts';
import { checkedRecord } from '../check-entry.ts';
import {
  type BatchHandler,
  batchMaxBytes,
  batchMaxRecords,
  handleBatch,
  retryFirstMs,
  retryMaxMs,
} from '../handle-batch.ts';
import { streamBounds } from '../stream-bounds.ts';
import { answerTimeout, throughElection } from './election.ts';
import { ensureStream, type KeptStream, type NatsPlace, storageError } from './kept.ts';
import { streamSubject } from './subjects.ts';

/**
 * Time after which unacknowledged records are redelivered: short, because records in delivery to a stopping consumer
 * are lost to it.
 */
const ackWaitMs = 5000;
const keepEveryMs = 1500;
const idLength = 22;

export interface StreamPlace extends NatsPlace {
  readonly persistent: boolean;
  readonly logger: Logger;
}

export class NatsStream implements Stream {
  readonly #name: string;
  readonly #place: StreamPlace;

  constructor(name: string, place: StreamPlace) {
    this.#name = name;
    this.#place = place;
  }

  /** Backends create the stream when they connect, so that others find it. */
  async ensure(): Promise<void> {
    const { connection, persistent } = this.#place;
    await throughElection(connection, () => ensureStream(connection, streamConfiguration(this.#name, persistent)));
  }

  async append(payload: Uint8Array): Promise<void> {
    this.#place.checkUsable();
    const own = checkedRecord(payload, 'A record');
    const { connection } = this.#place;
    // JetStream stores a message with this id once, however often it is sent.
    const named = { msgID: randomText(idLength) };
    const publish = () =>
      jetstream(connection, answerTimeout(connection)).publish(streamSubject(this.#name), own, named);
    try {
      await throughElection(connection, publish);
    } catch (error) {
      throw storageError(error);
    }
  }

  consume(consumer: string, handle: BatchHandler): Subscription {
    this.#place.checkUsable();
    const consuming = new Consuming(`${this.#name}/${consumer}`, handle, this.#place.logger);
    void consuming.run((take) => this.#open(consumer, take));
    return consuming;
  }

  async #open(consumer: string, take: (message: JsMsg) => void): Promise<ConsumerMessages> {
    await this.ensure();
    const manager = await this.#manager();
    await manager.consumers.add(this.#name, {
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: 4 * batchMaxRecords,
    });
    const found = await manager.jetstream().consumers.get(this.#name, consumer);
    return await found.consume({ max_messages: batchMaxRecords, abort_on_missing_resource: true, callback: take });
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#place.connection, { checkAPI: false });
  }
}

export function streamConfiguration(name: string, persistent: boolean): KeptStream {
  return {
    name,
    subjects: [streamSubject(name)],
    max_bytes: streamBounds.maxBytes,
    max_age: nanos(streamBounds.maxAgeMs),
    discard: 'old',
    storage: persistent ? StorageType.File : StorageType.Memory,
  };
}

/** A running consumer: takes the arrived records as a batch, has it handled, then acknowledges it. */
class Consuming implements Subscription {
  readonly #name: string;
  readonly #handle: BatchHandler;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #waiting: JsMsg[] = [];
  #batch: readonly JsMsg[] = [];
  #keeping: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  #messages: ConsumerMessages | null = null;

  constructor(name: string, handle: BatchHandler, logger: Logger) {
    this.#name = name;
    this.#handle = handle;
    this.#logger = logger;
  }

  /** Opens the consumer, and again whenever it breaks off, until it is stopped. */
  async run(open: (take: (message: JsMsg) => void) => Promise<ConsumerMessages>): Promise<void> {
    const { signal } = this.#stopping;
    let retryMs = retryFirstMs;
    while (!signal.aborted) {
      try {
        const messages = await open((message) => this.#take(message));
        this.#messages = messages;
        retryMs = retryFirstMs;
        if (signal.aborted) messages.stop();
        const broken = await messages.closed();
        if (broken instanceof Error) throw broken;
      } catch (thrown) {
        if (signal.aborted) break;
        this.#logger.warn({ consumer: this.#name, err: thrown }, 'lost a stream, which will be retried');
      }
      await pause(retryMs, signal);
      retryMs = Math.min(retryMs * 2, retryMaxMs);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#messages?.stop();
    await this.#working;
    for (const message of this.#waiting.splice(0)) message.nak();
    if (this.#keeping !== null) clearInterval(this.#keeping);
  }

  #take(message: JsMsg): void {
    if (this.#stopping.signal.aborted) {
      message.nak();
      return;
    }
    this.#waiting.push(message);
    this.#keeping ??= setInterval(() => this.#keep(), keepEveryMs).unref();
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    // Records that arrive together with the first one are handled with it.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !signal.aborted) {
      const batch = this.#nextBatch();
      this.#batch = batch;
      for (let retryMs = retryFirstMs; !(await this.#handled(batch)); retryMs = Math.min(retryMs * 2, retryMaxMs)) {
        await pause(retryMs, signal);
        if (!signal.aborted) continue;
        for (const message of batch) message.nak();
        break;
      }
      this.#batch = [];
    }
  }

  /** Keeps NATS from redelivering the batch while the handler runs. */
  #keep(): void {
    for (const message of this.#batch) message.working();
    for (const message of this.#waiting) message.working();
  }

  #nextBatch(): readonly JsMsg[] {
    let count = 0;
    let size = 0;
    for (const { data } of this.#waiting) {
      size += data.byteLength;
      if (count > 0 && (size > batchMaxBytes || count >= batchMaxRecords)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  #handled(batch: readonly JsMsg[]): Promise<boolean> {
    const records = batch.map(({ data }) => data);
    const done = () => Promise.all(batch.map((message) => message.ackAck()));
    return handleBatch(this.#handle, { name: this.#name, records, logger: this.#logger, done });
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
