import {
  type Consumer,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import type { BusContent, KeptEntry, KeptRecord, NatsContentOptions } from '../content.ts';
import { bucketConfiguration } from './bucket.ts';
import { connectForContent } from './connect-for-content.ts';
import { throughElection } from './election.ts';
import { ensureStream, isConflict, isNoStream, type KeptStream, storageError } from './kept.ts';
import { streamConfiguration } from './stream.ts';
import { bucketStream, keyOf, keySubject, streamSubject } from './subjects.ts';

/** Items read and written at a time: enough to share the wait for the disk, few enough for memory. */
const batchMax = 256;
const fetchTimeoutMs = 5000;

const operationHeader = 'KV-Operation';
/** In seconds: NATS lets a message expire at its own time, until the next put of its key. */
const ageHeader = 'Nats-TTL';

export async function openNatsContent(options: NatsContentOptions): Promise<BusContent> {
  return new NatsBusContent(await connectForContent(options), options.keyMaxAgeMs);
}

class NatsBusContent implements BusContent {
  readonly #connection: NatsConnection;
  readonly #keyMaxAgeMs: number;

  constructor(connection: NatsConnection, keyMaxAgeMs: number) {
    this.#connection = connection;
    this.#keyMaxAgeMs = keyMaxAgeMs;
  }

  async *records(stream: string): AsyncGenerator<KeptRecord> {
    const info = await this.#find(stream);
    if (info === null) return;
    for await (const { data } of this.#messages(info, await this.#firstUnhandled(stream))) yield { payload: data };
  }

  async *entries(bucket: string): AsyncGenerator<KeptEntry> {
    const info = await this.#find(bucketStream(bucket));
    if (info === null) return;
    const maxAgeMs = info.config.max_age / nanos(1);
    for await (const message of this.#messages(info, 0)) {
      if ((message.headers?.get(operationHeader) ?? '') !== '') continue;
      const own = Number.parseInt(message.headers?.get(ageHeader) ?? '', 10);
      const ageMs = Number.isNaN(own) ? maxAgeMs : Math.min(own * 1000, maxAgeMs);
      const key = keyOf(bucket, message.subject);
      yield { key, value: message.data, expiresAt: Number(message.timestampNanos / 1_000_000n) + ageMs };
    }
  }

  async addRecords(stream: string, records: AsyncIterable<KeptRecord>): Promise<void> {
    await this.#make(streamConfiguration(stream, true), streamSubject(stream));
    const bus = jetstream(this.#connection);
    await inBatches(records, ({ payload }) => bus.publish(streamSubject(stream), payload));
  }

  async addEntries(bucket: string, entries: AsyncIterable<KeptEntry>): Promise<void> {
    const maxAgeMs = this.#keyMaxAgeMs;
    const configuration = bucketConfiguration(bucket, { maxAgeMs, persistent: true });
    await this.#make(configuration, keySubject(bucket, 'none'));
    const bus = jetstream(this.#connection);
    await inBatches(entries, async ({ key, value, expiresAt }) => {
      // Whole seconds: the key lives up to a second less than its remaining time.
      const seconds = Math.floor((expiresAt - Date.now()) / 1000);
      if (seconds >= 1) await bus.publish(keySubject(bucket, key), value, { ttl: `${seconds}s` });
    });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Creates a stream and waits until it takes messages: the other nodes learn a moment later which node leads it. */
  async #make(stream: KeptStream, subject: string): Promise<void> {
    await throughElection(this.#connection, () => ensureStream(this.#connection, stream));
    // The stream refuses this message, so nothing is stored.
    const impossible = { expect: { lastSequence: Number.MAX_SAFE_INTEGER } };
    const ask = () => jetstream(this.#connection).publish(subject, '', impossible);
    await throughElection(this.#connection, ask).catch((error: unknown) => {
      if (!isConflict(error)) throw storageError(error);
    });
  }

  /** Null only if NATS says that the stream does not exist. Nodes that have just started may not answer yet. */
  async #find(stream: string): Promise<StreamInfo | null> {
    try {
      return await this.#ask(({ streams }) => streams.info(stream));
    } catch (error) {
      if (isNoStream(error)) return null;
      throw storageError(error);
    }
  }

  /** The first record that a durable consumer has not handled; 0 for none. NATS keeps consumers of earlier reads for minutes. */
  async #firstUnhandled(stream: string): Promise<number> {
    return await this.#ask(async ({ consumers }) => {
      let handled = Number.POSITIVE_INFINITY;
      for await (const { config, ack_floor: floor } of consumers.list(stream)) {
        if (config.durable_name !== undefined) handled = Math.min(handled, floor.stream_seq);
      }
      return Number.isFinite(handled) ? handled + 1 : 0;
    });
  }

  async *#messages({ config }: StreamInfo, first: number): AsyncGenerator<JsMsg> {
    const start = first === 0 ? {} : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: first };
    const { consumer, pending } = await throughElection(this.#connection, async () => {
      const found = await jetstream(this.#connection).consumers.get(config.name, start);
      return { consumer: found, pending: (await found.info()).num_pending };
    });
    for (let left = pending; left > 0; ) {
      // Never more than exist, because a fetch waits for the number that it asks for.
      const wanted = Math.min(left, batchMax);
      const batch = await throughElection(this.#connection, () => fetchBatch(consumer, wanted));
      if (batch.length === 0) {
        throw new SvcError('unavailable', `The bus did not hand out the content of "${config.name}" in time.`);
      }
      for (const message of batch) {
        left = message.info.pending;
        yield message;
      }
    }
  }

  #ask<Result>(question: (manager: JetStreamManager) => Promise<Result>): Promise<Result> {
    return throughElection(this.#connection, async () =>
      question(await jetstreamManager(this.#connection, { checkAPI: false })),
    );
  }
}

/**
 * Fetches at most `wanted` messages. A fetch that breaks off keeps the messages it has brought, and the next fetch
 * continues after them.
 */
async function fetchBatch(consumer: Consumer, wanted: number): Promise<readonly JsMsg[]> {
  const batch: JsMsg[] = [];
  try {
    const fetched = await consumer.fetch({ max_messages: wanted, expires: fetchTimeoutMs });
    for await (const message of fetched) batch.push(message);
  } catch (error) {
    if (batch.length === 0) throw error;
  }
  return batch;
}

/** The messages of a batch are sent one after the other, then their acknowledgements are awaited together. */
async function inBatches<Item>(items: AsyncIterable<Item>, send: (item: Item) => Promise<unknown>): Promise<void> {
  let sent: Promise<unknown>[] = [];
  const arrive = async () => {
    await Promise.all(sent).catch((error: unknown) => {
      throw storageError(error);
    });
    sent = [];
  };
  for await (const item of items) {
    sent.push(send(item));
    if (sent.length === batchMax) await arrive();
  }
  await arrive();
}
