import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Heartbeat } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Bus, Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { type LossyHub, lossy } from '../test/lossy-hub.ts';
import { leastBusy } from './runtime-process.ts';
import { RuntimeProcesses } from './runtime-processes.ts';

const hourMs = 3_600_000;
let hub: Hub;
let connections: LossyHub;
let processes: RuntimeProcesses;
let changes: number;
const runtime = newId('runtime');

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  hub = await startHub({ file: null });
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  backend.authorize(async (credentials, of) =>
    credentials.kind === 'runtime'
      ? { kind: 'runtime', process: of, runtime, name: 'test', workspace: null }
      : { kind: 'remote-mcp', process: of },
  );
  changes = 0;
  processes = new RuntimeProcesses(() => changes++);
  connections = lossy(hub);
  processes.listen(
    await connections.connect({ kind: 'system', component: 'remote-mcp', key: newKey('system') }, newProcessId()),
  );
  processes.start();
});
afterEach(async () => {
  processes.stop();
  vi.useRealTimers();
  await hub.stop();
});

async function connect(): Promise<Bus> {
  return await hub.connect({ kind: 'runtime', key: newKey('runtime') }, newProcessId());
}

/** A heartbeat, once it has been heard. */
async function beat(
  bus: Bus,
  [of, at]: readonly [RuntimeId, ProcessId],
  { intervalMs = 5000, inFlight = 0 } = {},
): Promise<void> {
  const body: Heartbeat = { at: Date.now(), inFlight, intervalMs, version: '1' };
  const before = changes;
  bus.publish(subjects.heartbeat(of, at), Buffer.from(JSON.stringify(body)));
  await vi.waitFor(() => expect(changes).toBe(before + 1));
}

test('a process that a catalogue names is recognised after any absence', async () => {
  const bus = await connect();
  const { process } = bus.identity;
  const named = processes.of(runtime, process);
  // A call reached no listener before any heartbeat arrived.
  named.gone();
  vi.advanceTimersByTime(1000);
  await beat(bus, [runtime, process]);
  expect([named.isThere, processes.of(runtime, process)]).toEqual([true, named]);
  // The process falls silent, and its heartbeats return after an outage.
  vi.advanceTimersByTime(hourMs);
  expect([named.isThere, named.hasJustLeft, changes]).toEqual([false, false, 3]);
  await beat(bus, [runtime, process]);
  expect([named.isThere, processes.of(runtime, process)]).toEqual([true, named]);
});

test('a process that promises a heartbeat in thirty years counts as silent after two minutes', async () => {
  const bus = await connect();
  const { process } = bus.identity;
  const named = processes.of(runtime, process);
  named.gone();
  await beat(bus, [runtime, process], { intervalMs: 2 ** 40 });
  vi.advanceTimersByTime(119_000);
  expect(named.isThere).toBe(true);
  vi.advanceTimersByTime(2000);
  expect(named.isThere).toBe(false);
});

test('of two processes, the one with fewer calls of all remote-mcps is chosen', async () => {
  const [busy, free] = [await connect(), await connect()];
  const [first, second] = [busy, free].map(({ identity }) => processes.of(runtime, identity.process));
  if (first === undefined || second === undefined) throw new Error('there are two');
  first.inFlight = 2;
  second.inFlight = 3;
  first.gone();
  await beat(busy, [runtime, first.process], { inFlight: 9 });
  expect([first.load, second.load]).toEqual([9, 3]);
  expect(leastBusy([first, second], new Set())).toBe(second);
  second.inFlight = 10;
  expect(leastBusy([first, second], new Set())).toBe(first);
});

test('a process of another runtime with the same id neither keeps it alive nor removes it', async () => {
  const bus = await connect();
  const { process } = bus.identity;
  const [gone, there] = [processes.of(newId('runtime'), process), processes.of(newId('runtime'), process)];
  const own = processes.of(runtime, process);
  gone.gone();
  own.gone();
  await beat(bus, [runtime, process]);
  expect([gone.isThere, own.isThere]).toEqual([false, true]);
  vi.advanceTimersByTime(hourMs);
  expect([own.isThere, there.isThere]).toEqual([false, true]);
});

test('while the bus is lost no process counts as silent', async () => {
  const bus = await connect();
  const { process } = bus.identity;
  const named = processes.of(runtime, process);
  named.gone();
  await beat(bus, [runtime, process]);
  connections.lose();
  vi.advanceTimersByTime(hourMs);
  expect([named.isThere, changes]).toEqual([true, 1]);
  connections.restore();
  vi.advanceTimersByTime(10_000);
  expect([named.isThere, changes]).toEqual([true, 1]);
  vi.advanceTimersByTime(1000);
  expect([named.isThere, named.hasJustLeft, changes]).toEqual([false, true, 2]);
});

test('remembers a bounded number of ended processes, and all live ones', () => {
  const there = processes.of(runtime, newProcessId());
  const gone = Array.from({ length: 2500 }, () => {
    const one = processes.of(runtime, newProcessId());
    one.gone();
    return one;
  });
  const isRemembered = (one: (typeof gone)[number]) => processes.of(one.runtime, one.process) === one;
  expect(isRemembered(there)).toBe(true);
  expect(gone.slice(-1000).every(isRemembered)).toBe(true);
  expect(gone.slice(0, 400).some(isRemembered)).toBe(false);
});
