import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BoundedLog, type BoundedLogOptions } from './bounded-log.ts';
import { createLog } from './log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(options: BoundedLogOptions = {}) {
  const lines: { readonly level: string; readonly msg: string; readonly count?: number; readonly n?: number }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const logger = createLog({ service: 'test', level: 'info', destination: { write } })('test');
  return { refusals: new BoundedLog(logger, options), lines };
}

it('writes one line a minute for each sender, then the number of further lines', () => {
  const { refusals, lines } = open();
  for (let n = 0; n < 100; n++) for (const sender of ['a', 'b']) refusals.write(sender, { n }, 'refused');
  expect(lines.map(({ msg, n }) => [msg, n])).toEqual([
    ['refused', 0],
    ['refused', 0],
  ]);
  vi.advanceTimersByTime(60_000);
  refusals.write('a', { n: 100 }, 'refused');
  expect(lines.slice(2)).toEqual([
    expect.objectContaining({ msg: 'left out further lines', count: 198 }),
    expect.objectContaining({ msg: 'refused', n: 100 }),
  ]);
});

it('writes a bounded number of lines a minute, whatever the number of senders', () => {
  const { refusals, lines } = open({ linesMax: 3, level: 'info' });
  for (let n = 0; n < 1000; n++) refusals.write(`sender ${n}`, { n }, 'refused');
  expect(lines.map(({ n }) => n)).toEqual([0, 1, 2]);
  expect(lines.map(({ level }) => level)).toEqual(['info', 'info', 'info']);
});

it('warns when no level is given', () => {
  const { refusals, lines } = open();
  refusals.write('a', {}, 'refused');
  expect(lines.map(({ level }) => level)).toEqual(['warn']);
});

const senderOf = (workspace: string, n: number) => ({ sender: `${workspace} ${n}`, workspace });

it('leaves lines for other workspaces, whatever the number of senders of one', () => {
  const { refusals, lines } = open();
  for (let n = 0; n < 1000; n++) refusals.write(senderOf('hostile', n), { n }, 'refused');
  expect(lines).toHaveLength(10);
  refusals.write(senderOf('other', 0), { n: -1 }, 'refused');
  expect(lines.at(-1)).toMatchObject({ n: -1 });
});

it('leaves lines for other workspaces, however many of them use their shares up', () => {
  const { refusals, lines } = open();
  const counts = Array.from({ length: 8 }, (_, w) => {
    const before = lines.length;
    for (let n = 0; n < 100; n++) refusals.write(senderOf(`workspace ${w}`, n), {}, 'refused');
    return lines.length - before;
  });
  expect(counts).toEqual([10, 10, 10, 10, 10, 5, 3, 1]);
});

it('takes the share that it is given', () => {
  const { refusals, lines } = open({ linesMax: 100, linesOfWorkspaceMax: 20 });
  for (let n = 0; n < 1000; n++) refusals.write(senderOf('hostile', n), { n }, 'refused');
  expect(lines).toHaveLength(20);
});
