import { expect, it, vi } from 'vitest';
import { createLog } from '../../log.ts';
import { frameMaxBytes, payloadMaxBytes, type Request } from '../bus.ts';
import { Senders } from '../senders.ts';
import { Answering } from './answering.ts';
import { type Frame, framesOf } from './frame.ts';
import { Unfinished } from './unfinished.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const twoFrames = framesOf('question', Buffer.alloc(600_000), {});
const tooLarge = framesOf('question', Buffer.alloc(payloadMaxBytes + 1_000_000), {});
const emptyFrame: Frame = { kind: 'question', more: true, headers: {}, payload: Buffer.alloc(0) };
const fullFrame: Frame = { ...emptyFrame, payload: Buffer.alloc(frameMaxBytes) };
const asker = 'run_0000000000000000000000AA-p00000000000';

it('later frames of a refused question reach no handler', () => {
  const { begin, handled, running, said } = answeringOne({ isFull: true });
  const answering = begin(twoFrames[0]);
  for (const frame of twoFrames) answering.hear(frame);
  answering.abandon();
  expect({ handled, running: running(), said }).toEqual({ handled: [], running: 0, said: ['rate_limited'] });
});

it('later frames of a question that is too large reach no handler', () => {
  const { begin, handled, running, said } = answeringOne();
  const answering = begin(tooLarge[0]);
  for (const frame of tooLarge.slice(1)) answering.hear(frame);
  answering.abandon();
  expect({ handled, running: running(), said }).toEqual({ handled: [], running: 0, said: ['too_large'] });
});

it('a question of empty frames is too large once it has more frames than the largest question', () => {
  const { begin, said } = answeringOne();
  const answering = begin(emptyFrame);
  for (let i = 1; i < 32; i++) answering.hear(emptyFrame);
  expect(said).toEqual([]);
  answering.hear(emptyFrame);
  expect(said).toEqual(['too_large']);
});

it('a question takes a place of its responder when it is complete, and keeps it until the handler returns', async () => {
  const { begin, handled, running, finish } = answeringOne();
  const answering = begin(twoFrames[0]);
  expect([running(), handled]).toEqual([0, []]);
  answering.hear(twoFrames[1] ?? emptyFrame);
  expect([running(), handled]).toEqual([1, [600_000]]);
  answering.abandon();
  expect(running()).toBe(1);
  finish();
  await vi.waitFor(() => expect(running()).toBe(0));
});

it('a question whose frames stop arriving is dropped within seconds, and one that continues is not', () => {
  const { begin } = answeringOne();
  const began = performance.now();
  const answering = begin(twoFrames[0]);
  const untilMs = answering.deadline - began;
  expect(untilMs).toBeGreaterThan(5000);
  expect(untilMs).toBeLessThan(11_000);
  const before = answering.deadline;
  answering.hear(fullFrame);
  expect(answering.deadline).toBeGreaterThanOrEqual(before);
  answering.hear({ ...fullFrame, more: false });
  expect(answering.deadline - began).toBeGreaterThan(30 * 60_000);
});

it('a sender has a place for each question until it is dropped, and no more than its share', () => {
  const senders = new Senders({ logger, close: () => undefined });
  const ones = Array.from({ length: 10 }, () => answeringOne({ senders }));
  const begun = ones.map(({ begin }) => begin(twoFrames[0]));
  expect(ones.map(({ said }) => said)).toEqual([
    ...Array.from({ length: 8 }, () => []),
    ['rate_limited'],
    ['rate_limited'],
  ]);
  for (const answering of begun.slice(0, 2)) answering.timeOut();
  expect(ones.slice(0, 2).map(({ said }) => said)).toEqual([['timeout'], ['timeout']]);
  const next = [answeringOne({ senders }), answeringOne({ senders }), answeringOne({ senders })];
  for (const { begin } of next) begin(twoFrames[0]);
  expect(next.map(({ said }) => said)).toEqual([[], [], ['rate_limited']]);
});

it('beyond the memory limit for unfinished questions, the growing question is dropped', () => {
  const unfinished = new Unfinished();
  const ones = Array.from({ length: 20 }, (_, i) => {
    const one = answeringOne({ unfinished, asker: `run_${i}-p0` });
    const answering = one.begin(fullFrame);
    for (let frame = 1; frame < 31; frame++) answering.hear(fullFrame);
    return one;
  });
  const givenUp = ones.map(({ said }) => said.join());
  // 31 frames of each: 15 of the 20 take nearly 16 times the largest payload, and none more than then stays free.
  expect(givenUp).toEqual([
    ...Array.from({ length: 15 }, () => ''),
    ...Array.from({ length: 5 }, () => 'rate_limited'),
  ]);
  const { begin, said } = answeringOne({ unfinished, asker: 'run_new-p0' });
  begin(fullFrame).hear(fullFrame);
  expect(said).toEqual([]);
});

it('runtimes of one workspace share the memory of unfinished questions, and another workspace has its own', () => {
  const unfinished = new Unfinished((runtime) => (runtime.startsWith('run_a') ? 'a' : 'b'));
  const growLarge = (asker: string) => {
    const one = answeringOne({ unfinished, asker });
    const answering = one.begin(fullFrame);
    for (let frame = 1; frame < 31; frame++) answering.hear(fullFrame);
    return one.said.join();
  };
  const [ofAttacker, ofVictim] = [Array.from({ length: 20 }, (_, i) => `run_a${i}-p0`), ['run_b0-p0', 'run_b1-p0']];
  expect(ofAttacker.map(growLarge)).toEqual([
    ...Array.from({ length: 4 }, () => ''),
    ...Array.from({ length: 16 }, () => 'rate_limited'),
  ]);
  expect(ofVictim.map(growLarge)).toEqual(['', '']);
});

it('processes of one runtime share the memory of unfinished questions', () => {
  const unfinished = new Unfinished();
  const ones = Array.from({ length: 4 }, (_, i) => {
    const one = answeringOne({ unfinished, asker: `run_one-p${i}` });
    const answering = one.begin(fullFrame);
    for (let frame = 1; frame < 31; frame++) answering.hear(fullFrame);
    return one;
  });
  expect(ones.map(({ said }) => said.join())).toEqual(['', '', 'rate_limited', 'rate_limited']);
});

it('the memory of a question is released when it is complete, dropped or abandoned', () => {
  const unfinished = new Unfinished();
  const begun = Array.from({ length: 3 }, (_, i) =>
    answeringOne({ unfinished, asker: `${asker}${i}` }).begin(fullFrame),
  );
  expect(unfinished.bytes).toBe(3 * frameMaxBytes);
  begun[0]?.hear({ ...fullFrame, more: false });
  begun[1]?.timeOut();
  begun[2]?.abandon();
  expect(unfinished.bytes).toBe(0);
});

interface How {
  readonly isFull?: boolean;
  readonly senders?: Senders;
  readonly unfinished?: Unfinished;
  readonly asker?: string;
}

function answeringOne(how: How = {}) {
  const { isFull = false, unfinished = new Unfinished() } = how;
  const senders = how.senders ?? new Senders({ logger, close: () => undefined });
  const handled: number[] = [];
  const said: string[] = [];
  let running = 0;
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const handle = async (request: Request) => {
    handled.push(request.payload.byteLength);
    await finished;
    return { payload: Buffer.alloc(0), headers: {} };
  };
  const answerer = { handle, isFull, began: () => void running++, settled: () => void running-- };
  const send = (_: string, { kind, payload }: Frame) => {
    if (kind === 'error') said.push(JSON.parse(Buffer.from(payload).toString()).code);
  };
  let turn = 0;
  const answering = new Answering(
    { subject: 'svc.test', asker: how.asker ?? asker, reply: '_R.asker.own.1' },
    answerer,
    {
      ...{ unfinished, senders, onEnd: () => undefined },
      wire: { own: 'own', logger, send, turn: () => turn++ },
    },
  );
  const begin = (frame: Frame = emptyFrame) => {
    answering.begin(frame);
    return answering;
  };
  return { begin, handled, said, finish, running: () => running };
}
