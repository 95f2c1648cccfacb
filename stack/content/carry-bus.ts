import { createHash, hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { KindOfContent } from '../../services/backend/graph/content.ts';
import { buckets, streams } from '../../services/contracts/bus/subjects.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';

export type BusSource = Pick<BusContent, 'records' | 'entries'>;
export type BusTarget = Pick<BusContent, 'addRecords' | 'addEntries'>;

/** What was read of the old bus: its records in their order, and for each key when it expires. */
export interface CarriedBus {
  readonly usage: KindOfContent;
  readonly keys: ReadonlyMap<string, number>;
}

/** A key may lose a second of its age on its way. */
const lostMaxMs = 1000;
/** And may have been on that way for so long. */
const wayMaxMs = 5000;

/** Copies the content of a bus: uncounted usage, and the sessions of agents. */
export async function carryBus(from: BusSource, to: BusTarget): Promise<CarriedBus> {
  // One digest over the records, in their order.
  const usage = createHash('sha256');
  let count = 0;
  await to.addRecords(
    streams.usage,
    noting(from.records(streams.usage), ({ payload }) => {
      usage.update(digestOf(String(count), payload));
      count += 1;
    }),
  );
  const keys = new Map<string, number>();
  await to.addEntries(
    buckets.sessions,
    noting(from.entries(buckets.sessions), ({ key, value, expiresAt }) => {
      keys.set(digestOf(key, value), expiresAt);
    }),
  );
  return { usage: { kind: 'bus.usage', count, digest: usage.digest('hex') }, keys };
}

export async function readBus(from: BusSource): Promise<CarriedBus> {
  const read = (_name: string, items: AsyncIterable<unknown>) => drain(items);
  return await carryBus(from, { addRecords: read, addEntries: read });
}

export async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items);
}

/** Throws if the target differs. No key may expire later, and a key that expired meanwhile may be missing. */
export async function verifyBus(carried: CarriedBus, there: BusSource): Promise<readonly KindOfContent[]> {
  for (const pauseMs of lagPausesMs) {
    const kinds = await compareBus(carried, there).catch(() => null);
    if (kinds !== null) return kinds;
    await pause(pauseMs);
  }
  return await compareBus(carried, there);
}

/** Several nodes of NATS acknowledge what a majority has. A node that lags behind them may answer the read. */
const lagPausesMs = [100, 200, 400, 800, 1600];

async function compareBus(carried: CarriedBus, there: BusSource): Promise<readonly KindOfContent[]> {
  const { usage, keys: found } = await readBus(there);
  if (usage.digest !== carried.usage.digest) throw differs('usage records', carried.usage.count, usage.count);
  for (const [digest, expiresAt] of found) {
    const expected = carried.keys.get(digest);
    if (expected === undefined) throw new SvcError('internal', 'The new side has a session that the old one has not.');
    if (expiresAt > expected + wayMaxMs) {
      throw new SvcError('internal', 'A session would live longer on the new side.');
    }
  }
  const now = Date.now();
  const lost = [...carried.keys].filter(([digest, expiresAt]) => !found.has(digest) && expiresAt - lostMaxMs > now);
  if (lost.length > 0) throw differs('sessions', carried.keys.size, found.size);
  const digest = hash('sha256', [...found.keys()].toSorted().join('\n'));
  return [usage, { kind: 'bus.sessions', count: found.size, digest }];
}

async function* noting<Item>(items: AsyncIterable<Item>, note: (item: Item) => void): AsyncGenerator<Item> {
  for await (const item of items) {
    note(item);
    yield item;
  }
}

function digestOf(name: string, bytes: Uint8Array): string {
  return createHash('sha256').update(`${name}\n`).update(bytes).digest('hex');
}

function differs(what: string, expected: number, found: number): SvcError {
  return new SvcError('internal', `The ${what} on the new side are not those of the old one: ${found} of ${expected}.`);
}
