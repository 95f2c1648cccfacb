import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from './log.ts';
import { RefusalLog, type RefusalLogOptions } from './refusal-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(options: RefusalLogOptions = {}) {
  const lines: { readonly level: string; readonly msg: string; readonly count?: number; readonly n?: number }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const logger = createLog({ service: 'test', level: 'info', destination: { write } })('test');
  return { refusals: new RefusalLog(logger, options), lines };
}

it('writes one line a minute for each sender, and then how many more there were', () => {
  const { refusals, lines } = open();
  for (let n = 0; n < 100; n++) for (const sender of ['a', 'b']) refusals.write(sender, { n }, 'refused');
  expect(lines.map(({ msg, n }) => [msg, n])).toEqual([
    ['refused', 0],
    ['refused', 0],
  ]);
  vi.advanceTimersByTime(60_000);
  refusals.write('a', { n: 100 }, 'refused');
  expect(lines.slice(2)).toEqual([
    expect.objectContaining({ msg: 'left out further refusals', count: 198 }),
    expect.objectContaining({ msg: 'refused', n: 100 }),
  ]);
});

it('writes a bounded number of lines a minute, whatever the number of senders', () => {
  const { refusals, lines } = open({ linesMax: 3, level: 'info' });
  for (let n = 0; n < 1000; n++) refusals.write(`sender ${n}`, { n }, 'refused');
  expect(lines.map(({ n }) => n)).toEqual([0, 1, 2]);
});
