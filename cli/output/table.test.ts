import { expect, test } from 'vitest';
import { table } from './table.ts';

test('columns are as wide as their widest cell, colours not counted', () => {
  const green = `${String.fromCharCode(27)}[32mok${String.fromCharCode(27)}[39m`;
  expect(table(['NAME', 'STATE'], [['a longer name', green]])).toBe(`NAME           STATE\na longer name  ${green}`);
});

test('a cell of several lines does not break its row', () => {
  expect(table(['NAME', 'REASON'], [['x', 'It ended.\nboom: no config']])).toBe(
    'NAME  REASON\nx     It ended. · boom: no config',
  );
});
