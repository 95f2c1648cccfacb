import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { canMount, SmallDisk } from '../../../../stack/test/small-disk.ts';
import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../log.ts';
import { connectNats } from './connect.ts';
import { findNatsServer, TestServer } from './test/server.ts';

vi.setConfig({ testTimeout: 60_000 });

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');

describe.skipIf(!canMount || findNatsServer() === null)('on a real server', () => {
  test('a full disk is named in the error, loses nothing acknowledged, and is over once there is room and NATS is restarted', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'svc-full-bus-'));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const disk = stack.use(SmallDisk.mount(folder, 16));
    const server = await TestServer.start(folder);
    stack.defer(() => server.stop());
    const open = { servers: [server.url], caPath: null, persistent: true, logger };
    const ofBackend = { kind: 'backend', seeds: server.seeds } as const;
    const backend = await connectNats({ ...open, credentials: ofBackend });
    stack.defer(() => backend.close());
    backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
    const credentials = { kind: 'system', key: new Secret('x'), component: 'remote-mcp' } as const;
    const bus = await connectNats({ ...open, credentials });
    stack.defer(() => bus.close());
    const [records, sessions] = [bus.stream('usage'), bus.bucket('sessions', { maxAgeMs: 3_600_000 })];
    await sessions.put('before', Buffer.from('kept'));
    const kept = async () => Buffer.from((await sessions.get('before'))?.value ?? []).toString();

    disk.fill();
    const acknowledged: string[] = [];
    let refusal: unknown;
    // The last page of its file may have room for a few.
    for (let i = 0; refusal === undefined && i < 100; i++) {
      const record = `${i}`.padEnd(1000, '.');
      refusal = await records.append(Buffer.from(record)).catch((error: unknown) => error);
      if (refusal === undefined) acknowledged.push(record);
    }
    expect(refusal).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('did not confirm in time'),
      hint: expect.stringContaining('disk may be full'),
    });
    expect(await kept()).toBe('kept');
    // A client that opens a stream gets the error at once, without details of the machine.
    const late = await connectNats({ ...open, credentials });
    stack.defer(() => late.close());
    const told = await late.bucket('sessions', { maxAgeMs: 3_600_000 }).put('late', Buffer.from('x')).catch(String);
    expect(told).toBe('SvcError: The disk of the bus is full: nothing was stored, and no stored data is lost.');
    const health = await fetch(`${server.monitoringUrl}/healthz`);
    expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('no space left on device')]);

    disk.makeRoom();
    await server.stop();
    await server.start();
    await expect
      .poll(
        () =>
          records.append(Buffer.from('room')).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    const found: string[] = [];
    const consuming = backend.stream('usage').consume('reader', async (batch) => {
      found.push(...batch.map((record) => Buffer.from(record).toString()));
    });
    await expect.poll(() => found.at(-1), { timeout: 20_000 }).toBe('room');
    await consuming.stop();
    expect(found).toEqual(expect.arrayContaining(acknowledged));
    expect(await kept()).toBe('kept');
  });
});
