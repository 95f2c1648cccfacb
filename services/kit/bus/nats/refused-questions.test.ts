import { describe, expect, it } from 'vitest';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import { payloadMaxBytes, type Reply } from '../bus.ts';
import { bytes, newFolder, ReceivedItems, TestPlatform, text } from '../contract/test-platform.ts';
import { questionsAtOnceMax } from '../senders.ts';
import { reached, startHub } from './test/hub.ts';
import { findNatsServer } from './test/server.ts';

const never = { timeoutMs: 60_000 };
const engine = { name: 'NATS', start: startHub, reached, crash: () => Promise.reject(new Error('not here')) };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  it('a runtime whose large questions are refused is not blamed for their further frames', async () => {
    await using platform = await TestPlatform.start(engine, { folder: await newFolder() });
    const runtime = await platform.runtime();
    const states = new ReceivedItems<string>();
    runtime.bus.onConnection(states.take);
    const { promise: answer, resolve: finish } = Promise.withResolvers<Reply>();
    const asked = new ReceivedItems<string>();
    platform.backend.respond(patterns.handshake, ({ subject }) => {
      asked.take(subject);
      return answer;
    });
    platform.backend.respond(patterns.report, async ({ payload }) => ({
      payload: bytes(String(payload.byteLength)),
      headers: {},
    }));
    await platform.reached(platform.backend);
    const handshake = subjects.handshake(runtime.runtime, runtime.process);
    const underWay = Array.from({ length: questionsAtOnceMax }, () =>
      runtime.bus.request(handshake, bytes('{}'), never),
    );
    await asked.atLeast(questionsAtOnceMax);
    const report = () =>
      runtime.bus.request(subjects.report(runtime.runtime, runtime.process), new Uint8Array(payloadMaxBytes), never);
    for (let i = 0; i < 10; i++) await expect(report()).rejects.toMatchObject({ code: 'rate_limited' });
    finish({ payload: bytes('done'), headers: {} });
    await Promise.all(underWay);
    expect(text((await report()).payload)).toBe(String(payloadMaxBytes));
    expect(states.items).toEqual([]);
  });
});
