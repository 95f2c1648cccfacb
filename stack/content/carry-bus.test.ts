import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import type { BusContent } from '../../services/kit/bus/content.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import { carryBus, verifyBus } from './carry-bus.ts';

const hourMs = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-bus-'));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true }));

interface Content {
  readonly records?: readonly string[];
  /** The expiry time of each session. */
  readonly keys?: Readonly<Record<string, number>>;
}

test('carried content is counted, and equal content has equal digests', async () => {
  const later = Date.now() + hourMs;
  const carried = await carry({ records: ['a', 'b'], keys: { x: later, y: later } });
  const found = await verifyBus(carried, await holding({ records: ['a', 'b'], keys: { y: later, x: later } }));
  expect(found.map(({ kind, count }) => `${kind} ${count}`)).toEqual(['bus.usage 2', 'bus.sessions 2']);
});

test('a session that expired meanwhile may be missing', async () => {
  const carried = await carry({ keys: { gone: Date.now() + 900, there: Date.now() + hourMs } });
  const [, sessions] = await verifyBus(carried, await holding({ keys: { there: Date.now() + hourMs } }));
  expect(sessions?.count).toBe(1);
});

test.concurrent.each<[string, Content]>([
  ['a record is missing', { records: ['a'] }],
  ['records are in another order', { records: ['b', 'a'] }],
  ['a record is there twice', { records: ['a', 'b', 'b'] }],
  ['a session is missing', { keys: {} }],
  ['a session is new', { keys: { x: Date.now() + hourMs, z: Date.now() + hourMs } }],
  ['a session would live longer', { keys: { x: Date.now() + hourMs + 60_000 } }],
])('it is noticed where %s', async (_what, wrong) => {
  const right: Content = { records: ['a', 'b'], keys: { x: Date.now() + hourMs } };
  const carried = await carry(right);
  await verifyBus(carried, await holding(right));
  await expect(verifyBus(carried, await holding({ ...right, ...wrong }))).rejects.toMatchObject({ code: 'internal' });
});

async function carry(content: Content) {
  return await carryBus(await holding(content), await holding({}));
}

async function holding({ records = [], keys = {} }: Content): Promise<BusContent> {
  const file = join(folder, `${++made}.sqlite`);
  const bus = await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: 2 * hourMs });
  await bus.addRecords('usage', Readable.from(records.map((text) => ({ payload: Buffer.from(text) }))));
  const entries = Object.entries(keys).map(([key, expiresAt]) => ({ key, value: Buffer.from(key), expiresAt }));
  await bus.addEntries('sessions', Readable.from(entries));
  return bus;
}
