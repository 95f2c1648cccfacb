import { createHash } from 'node:crypto';
import type { KindOfContent } from '../../services/backend/graph/content.ts';
import { buckets, streams } from '../../services/contracts/bus/subjects.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { BusContent } from '../../services/kit/bus/content.ts';

/** What was read of the old bus: one digest for each record, and for each key when it expires. */
export interface CarriedBus {
  readonly records: readonly string[];
  readonly keys: ReadonlyMap<string, number>;
}

/** A key may lose a second of its age on its way. */
const lostMaxMs = 1000;
/** And may have been on that way for so long. */
const wayMaxMs = 5000;

/** Copies what the bus keeps: usage that nobody has counted yet, and the sessions of agents. */
export async function carryBus(from: BusContent, to: BusContent): Promise<CarriedBus> {
  const records: string[] = [];
  await to.addRecords(
    streams.usage,
    noting(from.records(streams.usage), ({ payload }) => {
      records.push(digestOf(String(records.length), payload));
    }),
  );
  const keys = new Map<string, number>();
  await to.addEntries(
    buckets.sessions,
    noting(from.entries(buckets.sessions), ({ key, value, expiresAt }) => {
      keys.set(digestOf(key, value), expiresAt);
    }),
  );
  return { records, keys };
}

/**
 * Reads what is there now and throws where it is not what was carried: each record in its place, each key with its value and no longer a
 * life than it had. What has expired meanwhile may be gone.
 */
export async function verifyBus(carried: CarriedBus, there: BusContent): Promise<readonly KindOfContent[]> {
  const records: string[] = [];
  for await (const { payload } of there.records(streams.usage)) records.push(digestOf(String(records.length), payload));
  if (summed(records) !== summed(carried.records))
    throw differs('usage records', carried.records.length, records.length);
  const keys: string[] = [];
  for await (const { key, value, expiresAt } of there.entries(buckets.sessions)) {
    const digest = digestOf(key, value);
    const expected = carried.keys.get(digest);
    if (expected === undefined)
      throw new SvcError('internal', `The new side has a session "${key}" that the old one has not.`);
    if (expiresAt > expected + wayMaxMs)
      throw new SvcError('internal', `The session "${key}" would live longer on the new side.`);
    keys.push(digest);
  }
  const found = new Set(keys);
  const now = Date.now();
  const lost = [...carried.keys].filter(([digest, expiresAt]) => !found.has(digest) && expiresAt - lostMaxMs > now);
  if (lost.length > 0) throw differs('sessions', carried.keys.size, keys.length);
  return [
    { kind: 'bus.usage', count: records.length, digest: summed(records) },
    { kind: 'bus.sessions', count: keys.length, digest: summed(keys) },
  ];
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

function summed(digests: readonly string[]): string {
  return createHash('sha256').update(digests.toSorted().join('\n')).digest('hex');
}

function differs(what: string, expected: number, found: number): SvcError {
  return new SvcError('internal', `The ${what} on the new side are not those of the old one: ${found} of ${expected}.`);
}
