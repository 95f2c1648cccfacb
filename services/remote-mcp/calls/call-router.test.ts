import { beforeEach, expect, test } from 'vitest';
import { callHeader, callReplyKinds, notificationMaxBytes } from '../../contracts/bus/call.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import type { Reply, RequestOptions } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import { workedMs } from '../../kit/test/worked-ms.ts';
import type { BusLink } from '../bus/bus-link.ts';
import type { Notification } from '../routing/check-reply.ts';
import { RuntimeProcess } from '../routing/runtime-process.ts';
import { CallRouter, type RoutedCall } from './call-router.ts';

const kind = (of: string) => ({ [callHeader.kind]: of });
const final: Reply = { payload: Buffer.from('{}'), headers: kind(callReplyKinds.result) };

function progress(more: object = {}): Reply {
  const body = {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 't', progress: 1, ...more },
  };
  return { payload: Buffer.from(JSON.stringify(body)), headers: kind(callReplyKinds.notification) };
}

let lines: object[];
let asked: { interim: (reply: Reply) => void; end: () => void }[];
let router: CallRouter;
let process: RuntimeProcess;

beforeEach(() => {
  lines = [];
  asked = [];
  const bus = {
    request: (_subject: string, _payload: Uint8Array, { onInterim }: RequestOptions) => {
      const replied = Promise.withResolvers<Reply>();
      asked.push({ interim: (reply) => onInterim?.(reply), end: () => replied.resolve(final) });
      return replied.promise;
    },
  };
  const logger = { warn: (fields: object) => lines.push(fields) };
  router = new CallRouter({ present: { bus } } as unknown as BusLink, logger as unknown as Logger);
  process = new RuntimeProcess(newId('runtime'), newProcessId());
});

/** A call in progress, and the interim replies that its agent received. */
async function begin(from = process) {
  const heard: (Notification | null)[] = [];
  const call = {
    tool: { mcpServer: { id: newId('mcpServer'), processes: [from] } },
    ...{ method: 'tools/call', params: '{}', session: { id: 's' }, principal: { key: newId('key') }, request: 'r' },
    ...{ progressToken: 't', silenceMs: 60_000, signal: new AbortController().signal },
    onInterim: (notification: Notification | null) => void heard.push(notification),
  } as unknown as RoutedCall;
  const before = asked.length;
  const answer = router.send(call);
  await Promise.resolve();
  const under = asked[before];
  if (under === undefined) throw new Error('not asked');
  return { ...under, answer, heard, passedOn: () => heard.filter((one) => one !== null).length };
}

test('of a flood of interim replies few are parsed, all renew the deadline, and one line is logged', async () => {
  const call = await begin();
  const fill = Array.from({ length: 60_000 }, () => []);
  const large = progress({ message: fill });
  expect(large.payload.byteLength).toBeLessThan(notificationMaxBytes);
  const small = progress();
  const startedAt = workedMs();
  for (let times = 0; times < 300; times++) call.interim(large);
  for (let times = 0; times < 20_000; times++) call.interim(small);
  expect(workedMs() - startedAt).toBeLessThan(500);
  expect(call.heard).toHaveLength(20_300);
  expect(call.passedOn()).toBeLessThan(400);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ runtime: process.runtime, process: process.process });
  call.end();
  expect(await call.answer).toBe(final);
});

test('another call of the same process, and of another, has its progress passed on', async () => {
  const flooded = await begin();
  for (let times = 0; times < 20_000; times++) flooded.interim(progress());
  for (const from of [process, new RuntimeProcess(newId('runtime'), newProcessId())]) {
    const other = await begin(from);
    for (let times = 0; times < 200; times++) other.interim(progress());
    expect(other.passedOn()).toBe(200);
  }
});

test('a process gains nothing by spreading its flood over many calls', async () => {
  const calls = await Promise.all(Array.from({ length: 100 }, () => begin()));
  for (const call of calls) for (let times = 0; times < 200; times++) call.interim(progress());
  const passedOn = calls.reduce((sum, call) => sum + call.passedOn(), 0);
  expect(passedOn).toBeGreaterThanOrEqual(2000);
  expect(passedOn).toBeLessThan(4000);
});
