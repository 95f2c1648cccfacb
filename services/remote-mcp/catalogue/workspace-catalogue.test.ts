import { expect, test, vi } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import type { Catalogue } from './catalogue.ts';
import type { CatalogueRequest, Pulled } from './pull.ts';
import { WorkspaceCatalogue } from './workspace-catalogue.ts';

const workspace = newId('workspace');

function version(version: number): Pulled {
  const catalogue: Catalogue = {
    ...{ workspace, name: 'acme', suspended: false, version, statusVersion: 0 },
    ...{ mcpServers: [], skills: [], roles: [] },
    ...{ toolsByName: new Map(), skillsById: new Map(), rolesById: new Map() },
  };
  return { kind: 'changed', catalogue, etag: `"${version}"` };
}

/** A backend that answers pulls at the test's command. */
function pulled() {
  const pulls: { readonly asked: CatalogueRequest; answer(pulled: Pulled): void; fail(): void }[] = [];
  const versions: number[] = [];
  const waiting: (() => void)[] = [];
  const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } });
  const catalogue = new WorkspaceCatalogue({
    pull: (asked) =>
      new Promise((resolve, reject) => {
        pulls.push({ asked, answer: resolve, fail: () => reject(new SvcError('unavailable', 'away')) });
        for (const wake of waiting.splice(0)) wake();
      }),
    onChange: (present) => versions.push(present.version),
    log: log('catalogue'),
  });
  const pull = async (count: number) => {
    while (pulls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    const last = pulls[count - 1];
    if (last === undefined) throw new Error('no pull');
    return last;
  };
  return { catalogue, pull, pulls, versions };
}

test('all callers that wait for the first pull get its catalogue', async () => {
  const { catalogue, pull, pulls } = pulled();
  const all = [catalogue.load(), catalogue.load(), catalogue.load()];
  (await pull(1)).answer(version(1));
  for (const loaded of await Promise.all(all)) expect(loaded.version).toBe(1);
  expect(pulls).toHaveLength(1);
  await catalogue.stop();
});

test('a first pull that fails is an error, and the next one may succeed', async () => {
  const { catalogue, pull } = pulled();
  const first = catalogue.load();
  (await pull(1)).fail();
  await expect(first).rejects.toMatchObject({ code: 'unavailable' });
  const second = catalogue.load();
  (await pull(2)).answer(version(1));
  expect((await second).version).toBe(1);
  await catalogue.stop();
});

test('a catalogue that changes during a pull is pulled again at once, and as a snapshot if it keeps changing', async () => {
  const { catalogue, pull, pulls } = pulled();
  const loading = catalogue.load();
  for (const count of [1, 2, 3]) (await pull(count)).answer({ kind: 'incomplete' });
  (await pull(4)).answer(version(2));
  expect((await loading).version).toBe(2);
  expect(pulls.map(({ asked }) => asked.isSnapshot)).toEqual([false, false, false, true]);
  await catalogue.stop();
});

test('a catalogue that is cut off even in a snapshot is an error', async () => {
  const { catalogue, pull } = pulled();
  const loading = catalogue.load();
  for (const count of [1, 2, 3, 4]) (await pull(count)).answer({ kind: 'incomplete' });
  await expect(loading).rejects.toMatchObject({ code: 'unavailable' });
  await catalogue.stop();
});

test('many events cause one pull, which names the known version', async () => {
  const { catalogue, pull, pulls, versions } = pulled();
  const loading = catalogue.load();
  (await pull(1)).answer(version(1));
  await loading;
  for (let i = 0; i < 50; i++) catalogue.refresh();
  const second = await pull(2);
  expect(second.asked.etag).toBe('"1"');
  second.answer(version(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect([pulls.length, versions, catalogue.current?.version]).toEqual([2, [1, 2], 2]);
  await catalogue.stop();
});

test('an event during a pull causes another pull after it', async () => {
  const { catalogue, pull, versions } = pulled();
  const loading = catalogue.load();
  const first = await pull(1);
  catalogue.refresh();
  first.answer(version(1));
  await loading;
  (await pull(2)).answer(version(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(versions).toEqual([1, 2]);
  await catalogue.stop();
});

test('an event during a slow pull is not lost either', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { catalogue, pull, versions } = pulled();
    const loading = catalogue.load();
    const first = await pull(1);
    catalogue.refresh();
    vi.advanceTimersByTime(1000);
    first.answer(version(1));
    await loading;
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(1000);
    (await pull(2)).answer(version(2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(versions).toEqual([1, 2]);
    await catalogue.stop();
  } finally {
    vi.useRealTimers();
  }
});

test('the delay after a pull is bounded, however long the pull waited for the backend', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { catalogue, pull, pulls } = pulled();
    const loading = catalogue.load();
    const first = await pull(1);
    await vi.advanceTimersByTimeAsync(14_000);
    first.answer(version(1));
    await loading;
    catalogue.refresh();
    await vi.advanceTimersByTimeAsync(4900);
    expect(pulls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    (await pull(2)).answer(version(2));
    expect(pulls).toHaveLength(2);
    await catalogue.stop();
  } finally {
    vi.useRealTimers();
  }
});

test('the known catalogue stays while pulls fail, and pulls are retried', async () => {
  const { catalogue, pull } = pulled();
  const loading = catalogue.load();
  (await pull(1)).answer(version(1));
  await loading;
  catalogue.refresh();
  (await pull(2)).fail();
  expect((await catalogue.load()).version).toBe(1);
  (await pull(3)).answer(version(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(catalogue.current?.version).toBe(2);
  await catalogue.stop();
});
