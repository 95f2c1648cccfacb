import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

test('missing options have defaults', () => {
  expect(readOptions(['--seed', '7', '--away', '10'])).toEqual({
    ...{ seconds: 600, away: 10, seed: 7, only: '', engine: 'process', graph: 'sqlite' },
    ...{ clusters: false, faketime: undefined, hang: false, help: false },
  });
});

test('the help is asked for', () => {
  expect(readOptions(['--help'])).toBe(null);
});

test.each([
  [['--seconds', 'long'], '--seconds must be a number, not "long".'],
  [['--engine', 'podman'], '--engine must be process or docker, not "podman".'],
  [['--graph', ''], '--graph must be sqlite or dgraph, not "".'],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
