import { expect, it } from 'vitest';
import { Incoming, Outgoing } from './flow.ts';
import { type Frame, signalFrame } from './frame.ts';

const frame: Frame = { kind: 'interim', more: false, headers: {}, payload: Buffer.from('x') };
const frames = (count: number) => Array.from({ length: count }, () => frame);

it('a receipt opens the window by the number of frames that it names', async () => {
  const { outgoing, sent } = flow();
  void outgoing.give(frames(100));
  expect(sent.length).toBe(64);
  outgoing.received(signalFrame('received', '16'));
  expect(sent.length).toBe(80);
  outgoing.received(signalFrame('received', '64'));
  expect(sent.length).toBe(100);
});

it.each(['', '0', '-1', '-1000000', 'NaN', '1e3', '65', '99999999999', 'Infinity', '1.5', ' 1', '0x1'])(
  'a receipt of "%s" is refused and changes nothing',
  (count) => {
    const { outgoing, sent } = flow();
    void outgoing.give(frames(100));
    expect(() => outgoing.received(signalFrame('received', count))).toThrow('A receipt names frames');
    expect(sent.length).toBe(64);
    outgoing.received(signalFrame('received', '64'));
    expect(sent.length).toBe(100);
  },
);

it('a sender that ignores receipts is noticed, and one that waits is not', () => {
  let turn = 0;
  const receipts: number[] = [];
  const options = { tellReceived: (count: number) => void receipts.push(count), turn: () => turn };
  const honest = new Incoming(options);
  // Receipts leave with each turn.
  for (let i = 0; i < 10_000; i++) {
    if (i % 64 === 0) turn++;
    honest.take(frame);
  }
  expect(receipts.length).toBe(10_000 / 16);
  const hostile = new Incoming(options);
  for (let i = 0; i < 128; i++) hostile.take(frame);
  expect(() => hostile.take(frame)).toThrow('The sender does not wait for receipts.');
});

function flow() {
  const sent: Frame[] = [];
  return { sent, outgoing: new Outgoing((one) => sent.push(one)) };
}
