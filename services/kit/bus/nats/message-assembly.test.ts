import { expect, it, vi } from 'vitest';
import { workedMs } from '../../test/worked-ms.ts';
import { frameMaxBytes, payloadMaxBytes } from '../bus.ts';
import { type Frame, framesOf } from './frame.ts';
import { MessageAssembly } from './message-assembly.ts';

const subject = 'svc.session.one';
const begun = (id: string, bytes = frameMaxBytes): Frame => {
  return { kind: 'message', more: true, headers: {}, payload: Buffer.alloc(bytes), id };
};

it('assembles messages whose frames come interleaved', () => {
  const assembly = new MessageAssembly();
  const [a, b] = ['a', 'b'].map((id) => framesOf('message', Buffer.alloc(1_000_000, id), { from: id }, id));
  const heard = [a?.[0], b?.[0], b?.[1], a?.[1]].map((frame) => frame && assembly.take(subject, frame));
  expect(heard.slice(0, 2)).toEqual([null, null]);
  expect(heard.slice(2)).toMatchObject([{ headers: { from: 'b' } }, { headers: { from: 'a' } }]);
  expect(heard[2]?.payload.every((byte) => byte === 'b'.charCodeAt(0))).toBe(true);
  expect(assembly.bytes).toBe(0);
});

it('the same id on another subject is another message', () => {
  const assembly = new MessageAssembly();
  const [first, last] = framesOf('message', Buffer.alloc(600_000), {}, 'id');
  if (first === undefined || last === undefined) throw new Error('two frames');
  assembly.take(subject, first);
  expect(assembly.take('svc.session.other', last)).toBeNull();
  expect(assembly.take(subject, last)?.payload.byteLength).toBe(600_000);
});

it('beyond its limit, the oldest incomplete message is dropped', () => {
  const assembly = new MessageAssembly();
  for (let i = 0; i < 100_000; i++) assembly.take(subject, begun(`empty ${i}`, 0));
  for (let i = 0; i < 1000; i++) assembly.take(subject, begun(`full ${i}`));
  expect(assembly.bytes).toBeLessThanOrEqual(64 * frameMaxBytes);
  const last = { ...begun('full 999'), more: false };
  expect(assembly.take(subject, last)?.payload.byteLength).toBe(2 * frameMaxBytes);
  expect(assembly.take(subject, { ...begun('full 0'), more: false })).toBeNull();
});

it('many frames cost the same as few: other messages are not visited', () => {
  const assembly = new MessageAssembly();
  const began = workedMs();
  for (let i = 0; i < 200_000; i++) assembly.take(subject, begun(`${i}`, 0));
  expect(workedMs() - began).toBeLessThan(2000);
});

it('a message that is too large, or has too many frames, is dropped', () => {
  const assembly = new MessageAssembly();
  for (let i = 0; i <= payloadMaxBytes / frameMaxBytes; i++) assembly.take(subject, begun('large'));
  for (let i = 0; i <= payloadMaxBytes / frameMaxBytes; i++) assembly.take(subject, begun('empty', 0));
  expect(assembly.bytes).toBe(0);
});

it('a message whose frames stopped arriving is dropped with the next one', () => {
  vi.useFakeTimers();
  const assembly = new MessageAssembly();
  assembly.take(subject, begun('old'));
  vi.advanceTimersByTime(11_000);
  assembly.take(subject, begun('new'));
  expect(assembly.bytes).toBe(frameMaxBytes);
  vi.useRealTimers();
});
