import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createUser } from '@nats-io/nkeys';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../log.ts';
import type { BackendSeeds, Bus, Credentials } from '../bus.ts';
import type { BusContent, KeptEntry } from '../content.ts';
import { openBusContent } from '../open-content.ts';
import { startHub } from '../start.ts';
import { connectNats } from './connect.ts';
import { findNatsServer, TestServer } from './test/server.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const hourMs = 3_600_000;
const soon = { timeout: 20_000, interval: 20 };

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  it('content of a file is complete for clients of NATS: records in order, keys with their values', async () => {
    const file = join(await newFolder(), 'bus.sqlite');
    await withPlatform(onHub(file), fill);
    const server = await startServer();
    expect(await carry(openFile(file), openNats(server))).toEqual({ records: ['3', '4'], keys: ['a', 'b'] });
    await withPlatform(onNats(server), expectThere);
  });

  it('content of NATS is complete in a file: records in order, keys with their values', async () => {
    const server = await startServer();
    await withPlatform(onNats(server), fill);
    const file = join(await newFolder(), 'bus.sqlite');
    expect(await carry(openNats(server), openFile(file))).toEqual({ records: ['3', '4'], keys: ['a', 'b'] });
    await withPlatform(onHub(file), expectThere);
  });

  it('a key expires at its original time, and lives its full age again after the next put', async () => {
    const server = await startServer();
    const expiresAt = Date.now() + 3000;
    const entry = (key: string): KeptEntry => ({ key, value: Buffer.from(key), expiresAt });
    await using nats = closing(await openNats(server));
    await nats.addEntries('sessions', listed([entry('left'), entry('used'), { ...entry('late'), expiresAt: 0 }]));
    const found = await all(nats.entries('sessions'));
    expect(found.map(({ key }) => key)).toEqual(['left', 'used']);
    for (const { expiresAt: until } of found) expect(Math.abs(until - expiresAt)).toBeLessThan(1500);
    await withPlatform(onNats(server), async ({ remoteMcp }) => {
      const sessions = remoteMcp.bucket('sessions', { maxAgeMs: hourMs });
      await sessions.put('used', Buffer.from('again'));
      await vi.waitFor(async () => expect(await sessions.get('left')).toBeNull(), soon);
      expect(textOf((await sessions.get('used'))?.value)).toBe('again');
    });
  });

  it('a file says when keys would have expired, whatever the age of the bucket becomes', async () => {
    const folder = await newFolder();
    const file = join(folder, 'bus.sqlite');
    const expiresAt = Date.now() + hourMs / 2;
    const from = await openFile(file);
    await from.addEntries('sessions', listed([{ key: 'half', value: Buffer.from(''), expiresAt }]));
    expect((await all(from.entries('sessions'))).map((entry) => entry.expiresAt)).toEqual([expiresAt]);
    await from.close();
    await using later = closing(await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: hourMs / 4 }));
    expect(await all(later.entries('sessions'))).toEqual([]);
  });

  it('more than one batch is copied, in order and without duplicates', async () => {
    const file = join(await newFolder(), 'bus.sqlite');
    const server = await startServer();
    const names = Array.from({ length: 600 }, (_, i) => `key-${i}`);
    const expiresAt = Date.now() + hourMs;
    const from = await openFile(file);
    await from.addRecords('usage', listed(names.map((name) => ({ payload: Buffer.from(name) }))));
    await from.addEntries('sessions', listed(names.map((key) => ({ key, value: Buffer.from(key), expiresAt }))));
    await from.close();
    await carry(openFile(file), openNats(server));
    // No consumer has handled a record yet, and reading them handles none.
    for (let reading = 1; reading <= 2; reading++) {
      const back = join(await newFolder(), 'bus.sqlite');
      expect(await carry(openNats(server), openFile(back))).toEqual({ records: names, keys: names.toSorted() });
    }
  });

  it('data in NATS can be read beside a running backend, and only with the seed', async () => {
    const server = await startServer();
    await withPlatform(onNats(server), async (platform) => {
      await fill(platform);
      await using nats = closing(await openNats(server, server.seeds, true));
      expect((await all(nats.records('usage'))).map(({ payload }) => textOf(payload))).toEqual(['3', '4']);
      expect((await all(nats.entries('sessions'))).map(({ key }) => key).sort()).toEqual(['a', 'b']);
      const issuer = new Secret(Buffer.from(createAccount().getSeed()).toString());
      await expect(openNats(server, { ...server.seeds, issuer }, true)).rejects.toMatchObject({
        message: `The bus at ${server.url} did not admit this command.`,
      });
      await expectThere(platform);
    });
    await expect(openNats(server, server.seeds, true)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('an empty bus has no content, and a bus with other seeds is not opened', async () => {
    const server = await startServer();
    await using nats = closing(await openNats(server));
    expect(await all(nats.records('usage'))).toEqual([]);
    expect(await all(nats.entries('sessions'))).toEqual([]);
    const callout = new Secret(Buffer.from(createUser().getSeed()).toString());
    await expect(openNats(server, { ...server.seeds, callout })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(server.url),
    });
  });
});

interface Platform {
  readonly backend: Bus;
  readonly remoteMcp: Bus;
}

/** Four records, of which the first two are handled, and three keys, of which one is deleted. */
async function fill({ backend, remoteMcp }: Platform): Promise<void> {
  const usage = remoteMcp.stream('usage');
  for (const text of ['1', '2']) await usage.append(Buffer.from(text));
  await handle(backend, ['1', '2']);
  for (const text of ['3', '4']) await usage.append(Buffer.from(text));
  const sessions = remoteMcp.bucket('sessions', { maxAgeMs: hourMs });
  for (const key of ['a', 'b', 'gone']) await sessions.put(key, Buffer.from(`value of ${key}`));
  await sessions.delete('gone');
}

async function expectThere({ backend, remoteMcp }: Platform): Promise<void> {
  const sessions = remoteMcp.bucket('sessions', { maxAgeMs: hourMs });
  for (const key of ['a', 'b']) expect(textOf((await sessions.get(key))?.value)).toBe(`value of ${key}`);
  expect(await sessions.get('gone')).toBeNull();
  await handle(backend, ['3', '4']);
}

/** Lets the backend's consumer handle all records, which must be the expected ones. */
async function handle(backend: Bus, expected: readonly string[]): Promise<void> {
  const handled: string[] = [];
  const consuming = backend.stream('usage').consume('backend', async (batch) => {
    handled.push(...batch.map(textOf));
  });
  await vi.waitFor(() => expect(handled).toEqual(expected), soon);
  await consuming.stop();
}

async function carry(opening: Promise<BusContent>, target: Promise<BusContent>) {
  await using from = closing(await opening);
  await using to = closing(await target);
  const records: string[] = [];
  const keys: string[] = [];
  await to.addRecords(
    'usage',
    noted(from.records('usage'), ({ payload }) => records.push(textOf(payload))),
  );
  await to.addEntries(
    'sessions',
    noted(from.entries('sessions'), ({ key }) => keys.push(key)),
  );
  return { records, keys: keys.sort() };
}

async function* noted<Item>(items: AsyncIterable<Item>, note: (item: Item) => void): AsyncGenerator<Item> {
  for await (const item of items) {
    note(item);
    yield item;
  }
}

async function* listed<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

function closing(content: BusContent): BusContent & AsyncDisposable {
  return Object.assign(content, { [Symbol.asyncDispose]: () => content.close() });
}

/** Runs the work with a backend and a remote-mcp on a bus. */
async function withPlatform(connect: Connect, work: (platform: Platform) => Promise<void>): Promise<void> {
  await using open = new AsyncDisposableStack();
  const backend = await connect({ kind: 'backend' }, open);
  backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
  const key = new Secret('x');
  await work({ backend, remoteMcp: await connect({ kind: 'system', component: 'remote-mcp', key }, open) });
}

type Connect = (credentials: Credentials, open: AsyncDisposableStack) => Promise<Bus>;

function onNats({ url, seeds }: TestServer): Connect {
  return async (shown, open) => {
    const credentials: Credentials = shown.kind === 'backend' ? { kind: 'backend', seeds } : shown;
    const how = { servers: [url], caPath: null, persistent: true, logger };
    return open.adopt(await connectNats({ ...how, credentials }), (bus) => bus.close());
  };
}

function onHub(file: string): Connect {
  const starting = startHub({ file });
  return async (credentials, open) => {
    const hub = await starting;
    if (credentials.kind === 'backend') open.defer(() => hub.stop());
    return open.adopt(await hub.connect(credentials, newProcessId()), (bus) => bus.close());
  };
}

async function openNats(
  { url, seeds: own }: TestServer,
  seeds: BackendSeeds = own,
  hasBackends = false,
): Promise<BusContent> {
  return openBusContent({ engine: 'nats', servers: [url], caPath: null, seeds, keyMaxAgeMs: hourMs, hasBackends });
}

async function openFile(file: string): Promise<BusContent> {
  return openBusContent({ engine: 'sqlite', file, keyMaxAgeMs: hourMs });
}

async function startServer(): Promise<TestServer> {
  const server = await TestServer.start(await newFolder());
  opened.push(() => server.stop());
  return server;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'content-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function textOf(bytes: Uint8Array = Buffer.from('')): string {
  return Buffer.from(bytes).toString();
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
