import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Identity, RuntimeIdentity } from '../../../contracts/bus/permissions.ts';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { createLog } from '../../log.ts';
import { ConnectionCounts, connectionShares, countSoonAfterMs } from './connection-counts.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const runtime = newId('runtime');
const workspace = newId('workspace');
const newProcess = (): RuntimeIdentity => ({
  ...{ kind: 'runtime', process: newProcessId(), runtime, name: 'edge', workspace },
});
const tooMany = expect.objectContaining({ code: 'rate_limited' });
let counts: ConnectionCounts;

beforeEach(() => {
  vi.useFakeTimers();
  counts = new ConnectionCounts(logger);
});
afterEach(() => {
  counts.close();
  vi.useRealTimers();
});

const admitOften = (count: number) => {
  for (let i = 0; i < count; i++) counts.admit(newProcess());
};

it('a runtime at its limit gets back, a second later, the places of connections that NATS no longer lists', async () => {
  const listed: Identity[] = [newProcess(), newProcess()];
  await counts.open(async () => listed);
  admitOften(connectionShares.runtime - 2);
  expect(() => counts.admit(newProcess())).toThrow(tooMany);
  await vi.advanceTimersByTimeAsync(countSoonAfterMs);
  // The list may lack connections that NATS has not reported yet.
  expect(() => counts.admit(newProcess())).toThrow(tooMany);
  await vi.advanceTimersByTimeAsync(countSoonAfterMs);
  admitOften(connectionShares.runtime - 2);
  expect(() => counts.admit(newProcess())).toThrow(tooMany);
});

it('a missing list leaves the sums unchanged and is requested again', async () => {
  let listings = 0;
  await counts.open(async () => {
    listings++;
    if (listings === 2) throw new Error('no answer');
    return [];
  });
  const admitted = Array.from({ length: connectionShares.runtime }, newProcess);
  for (const identity of admitted) counts.admit(identity);
  for (const identity of admitted) counts.connected(identity);
  await vi.advanceTimersByTimeAsync(countSoonAfterMs);
  expect(listings).toBe(2);
  expect(() => counts.admit(newProcess())).toThrow(tooMany);
  await vi.advanceTimersByTimeAsync(countSoonAfterMs);
  expect(listings).toBe(3);
  counts.admit(newProcess());
});

it('a connection that NATS reports counts once, whichever backend admitted it', () => {
  const [own, foreign] = [newProcess(), newProcess()];
  for (const identity of [own, foreign]) {
    if (identity === own) counts.admit(identity);
    counts.connected(identity);
    counts.admit(identity);
    expect(() => counts.admit(identity)).toThrow(tooMany);
  }
});

it('the workspace of a runtime is known from each connection', async () => {
  const [admitted, heard, listed] = [newId('runtime'), newId('runtime'), newId('runtime')];
  await counts.open(async () => [{ ...newProcess(), runtime: listed }]);
  counts.admit({ ...newProcess(), runtime: admitted });
  counts.connected({ ...newProcess(), runtime: heard });
  for (const one of [admitted, heard, listed]) expect(counts.workspaceOf(one)).toBe(workspace);
  expect(counts.workspaceOf(newId('runtime'))).toBeUndefined();
});
