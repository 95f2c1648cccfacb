import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { blobSubjects } from '../../contracts/bus/subjects.ts';
import { Secret } from '../../contracts/secret.ts';
import { connectNats } from '../../kit/bus/nats/connect.ts';
import type { NatsBus } from '../../kit/bus/nats/nats-bus.ts';
import { findNatsServer, TestServer } from '../../kit/bus/nats/test/server.ts';
import { createLog } from '../../kit/log.ts';
import { all, blobOf, blobsContract, expectBytes, inChunks } from './blobs.contract.ts';
import { JetStreamBlobs } from './jetstream-blobs.ts';
import { openBlobs } from './open-blobs.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');

describe.skipIf(findNatsServer() === null)('blobs in JetStream', () => {
  let folder = '';
  let server: TestServer;
  const opened: NatsBus[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-blobs-'));
    server = await TestServer.start(folder);
  });
  afterEach(async () => {
    for (const bus of opened.splice(0)) await bus.close();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function connect(): Promise<NatsBus> {
    const credentials = { kind: 'backend', seeds: server.seeds } as const;
    const bus = await connectNats({
      ...{ servers: [server.url], caPath: null, credentials, persistent: true, logger },
    });
    opened.push(bus);
    return bus;
  }

  async function open() {
    const bus = await connect();
    const blobs = await openBlobs(undefined, bus);
    for await (const digest of blobs.list()) await blobs.remove(digest);
    return blobs;
  }

  blobsContract({ open, reopen: async () => await openBlobs(undefined, await connect()) });

  it('parts of an unfinished put are removed once they are old, and no complete blob', async () => {
    const bus = await connect();
    const blobs = await JetStreamBlobs.open(bus.place());
    const [whole, half] = [Buffer.from('whole'), Buffer.from('half')];
    await blobs.put(blobOf(whole), inChunks(whole));
    const put = `${Date.now().toString(36)}-left`;
    const { connection } = bus.place();
    const subject = blobSubjects.part(blobOf(half).digest, put, 0);
    await connection.request(subject, half);
    const parts = async () => {
      const filter = JSON.stringify({ subjects_filter: blobSubjects.partsOf(blobOf(half).digest, '*') });
      const answer = await connection.request('$JS.API.STREAM.INFO.blobs', filter);
      return Object.keys((answer.json() as { state: { subjects?: object } }).state.subjects ?? {});
    };
    await blobs.removeUnfinished(Date.now() - 60_000);
    expect(await parts()).toEqual([subject]);
    await blobs.removeUnfinished(Date.now() + 1000);
    expect(await parts()).toEqual([]);
    await expectBytes(blobs, blobOf(whole).digest, whole);
  });

  it('are stored once, however many callers put the same bytes', async () => {
    const blobs = await open();
    const bytes = Buffer.alloc(600 * 1024, 'x');
    await Promise.all(Array.from({ length: 5 }, () => blobs.put(blobOf(bytes), inChunks(bytes))));
    const manager = await jetstreamManager((await connect()).place().connection);
    // Three parts and the record.
    expect((await manager.streams.info('blobs')).state.messages).toBe(4);
  });

  it('are on disk even when the bus keeps other streams in memory, and survive a kill', async () => {
    const bytes = Buffer.alloc(600 * 1024, 'x');
    const blobs = await open();
    await blobs.put(blobOf(bytes), inChunks(bytes));
    await server.stop('SIGKILL');
    await server.start();
    const later = await openBlobs(undefined, await connect());
    expect(await all(later.list())).toEqual([blobOf(bytes).digest]);
    await expectBytes(later, blobOf(bytes).digest, bytes);
  });

  it('a bus without room is named in the refusal, keeps its data, and accepts more once there is room', async () => {
    const bus = await connect();
    const blobs = await JetStreamBlobs.open(bus.place());
    const [small, large] = [Buffer.from('small'), Buffer.alloc(3 * 1024 * 1024, 'l')];
    await blobs.put(blobOf(small), inChunks(small));
    const manager = await jetstreamManager(bus.place().connection);
    await manager.streams.update('blobs', { max_bytes: 2 * 1024 * 1024 });
    await expect(blobs.put(blobOf(large), inChunks(large))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/no room/),
      hint: expect.stringMatching(/Make room/),
    });
    expect(await blobs.find(blobOf(large).digest)).toBeNull();
    await expectBytes(blobs, blobOf(small).digest, small);
    expect((await manager.streams.info('blobs')).state.bytes).toBeLessThan(1024 * 1024);
    const later = await JetStreamBlobs.open(bus.place());
    await later.put(blobOf(large), inChunks(large));
    await expectBytes(later, blobOf(large).digest, large);
  });

  it('only the backend can write or read them', async () => {
    const backend = await connect();
    backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
    const blobs = await openBlobs(undefined, backend);
    const bytes = Buffer.from('secret');
    await blobs.put(blobOf(bytes), inChunks(bytes));
    const credentials = { kind: 'system', key: new Secret('x'), component: 'remote-mcp' } as const;
    const other = await connectNats({
      ...{ servers: [server.url], caPath: null, credentials, persistent: true, logger },
    });
    opened.push(other);
    const { connection } = other.place();
    const { digest } = blobOf(bytes);
    const asked = ['$JS.API.STREAM.MSG.GET.blobs', '$JS.API.DIRECT.GET.blobs', '$JS.API.STREAM.PURGE.blobs'];
    for (const subject of [blobSubjects.record(digest), '$JS.API.STREAM.DELETE.blobs', ...asked]) {
      const asking = connection.request(subject, JSON.stringify({ last_by_subj: blobSubjects.record(digest) }), {
        timeout: 1000,
      });
      await expect(asking, subject).rejects.toThrow(/permission/i);
    }
    await expect(JetStreamBlobs.open(other.place())).rejects.toMatchObject({ code: 'unavailable' });
    await expectBytes(blobs, digest, bytes);
  });
});
