import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newProcessId } from '../../../contracts/ids.ts';
import { copyBus, openBusContent } from '../open-content.ts';
import { startHub } from '../start.ts';

const hourMs = 3_600_000;
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

it('a copy of a bus that is written to has every record acknowledged before it, in order, and none twice', async () => {
  const folder = await newFolder();
  const file = join(folder, 'bus.sqlite');
  const hub = await startHub({ file });
  opened.push(() => hub.stop());
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  const usage = backend.stream('usage');
  let acknowledged = 0;
  let isWriting = true;
  const writing = (async () => {
    const padding = 'x'.repeat(4096);
    for (; isWriting; acknowledged++) await usage.append(Buffer.from(`${acknowledged} ${padding}`));
  })();
  // Several megabytes, so that SQLite restarts the log meanwhile.
  for (let copy = 0; copy < 30; copy++) {
    await expect.poll(() => acknowledged, { timeout: 20_000, interval: 5 }).toBeGreaterThan(copy * 40);
    const before = acknowledged;
    const target = join(await newFolder(), 'bus.sqlite');
    await copyBus(file, target);
    const content = await openBusContent({ engine: 'sqlite', file: target, keyMaxAgeMs: hourMs });
    const found: number[] = [];
    for await (const { payload } of content.records('usage'))
      found.push(Number.parseInt(Buffer.from(payload).toString(), 10));
    await content.close();
    expect(found).toEqual(found.map((_, index) => index));
    expect(found.length).toBeGreaterThanOrEqual(before);
  }
  isWriting = false;
  await writing;
});

it('a copied key lives no longer than the age of its new bucket', async () => {
  const file = join(await newFolder(), 'bus.sqlite');
  const content = await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: hourMs });
  opened.push(() => content.close());
  const entry = { key: 'a', value: Buffer.from(''), expiresAt: Date.now() + 10 * hourMs };
  await content.addEntries(
    'sessions',
    (async function* () {
      yield entry;
    })(),
  );
  for await (const { expiresAt } of content.entries('sessions')) {
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + hourMs);
  }
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'content-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
