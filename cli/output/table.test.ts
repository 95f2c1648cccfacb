import { describe, expect, test } from 'vitest';
import { styled } from './style.ts';
import { details, facts, spare, table } from './table.ts';
import { seenWidth } from './width.ts';

const green = (text: string) => styled('green', text);
const page = (columns: number | null) => ({ columns, asTyped: (text: string) => text });
const widthsOf = (text: string) => text.split('\n').map((line) => seenWidth(line));

describe('a table', () => {
  test('has columns as wide as their widest cell, not counting colours', () => {
    expect(table(['NAME', 'STATE'], [['a longer name', green('ok')]])).toBe(
      `NAME           STATE\na longer name  ${green('ok')}`,
    );
  });

  test('keeps a cell of several lines in its row', () => {
    expect(table(['NAME', 'REASON'], [['x', 'It ended.\nboom: no config']])).toBe(
      'NAME  REASON\nx     It ended. · boom: no config',
    );
  });

  const rows = [
    ['backend', green('running'), 'http://localhost:8080', 'key_01'],
    ['a-very-long-name-that-somebody-gave', green('running'), 'http://localhost:12345', 'key_02'],
  ];
  const header = ['NAME', 'STATE', 'ADDRESS', spare('ID')];

  test('is complete if there is room, or if the output is not a terminal', () => {
    for (const width of [120, null]) {
      const text = table(header, rows, width);
      expect(text).toContain('key_02');
      expect(text).not.toContain('…');
    }
  });

  test('leaves out spare columns before it cuts any', () => {
    const text = table(header, rows, 75);
    expect(text).not.toContain('key_');
    expect(text).not.toContain('ID');
    expect(text).not.toContain('…');
  });

  test.each([40, 50, 60])('fits into %i columns, by cutting the widest cells', (width) => {
    const text = table(header, rows, width);
    expect(Math.max(...widthsOf(text))).toBeLessThanOrEqual(width);
    expect(text).toContain('backend ');
    expect(text).toContain('a-very-l');
    expect(text).toContain('…');
    expect(text).toContain(green('running'));
  });

  test('closes the colour of a cell that is cut', () => {
    expect(table(['A'], [[green('0123456789')]], 8)).toBe(`A\n${green('0123456…')}`);
  });

  test('has no empty column', () => {
    expect(table(['NAME', '', 'STATE'], [['x', '', 'ok']])).toBe('NAME  STATE\nx     ok');
  });
});

describe('details', () => {
  const told = [
    { name: 'crm', text: 'It ended with exit code 1: it failed. Look at its log, and mend what it names.' },
  ];

  test('are one line each if the output is not a terminal', () => {
    expect(details(told, page(null))).toBe(`crm: ${told[0]?.text}`);
  });

  test('are wrapped between words, with their names in front', () => {
    expect(details(told, page(40))).toBe(
      'crm: It ended with exit code 1: it\n  failed. Look at its log, and mend what\n  it names.',
    );
  });

  test('have their commands replaced before lines are counted', () => {
    const asTyped = (text: string) => text.replace('svc up', 'npx svc up');
    expect(details([{ name: 'x', text: 'It ended. Start it: svc up' }], { columns: 30, asTyped })).toBe(
      'x: It ended. Start it: npx svc\n  up',
    );
  });

  test('break a word that is longer than a line', () => {
    const lines = details([{ name: 'x', text: `see ${'/folder'.repeat(10)}` }], page(30));
    expect(Math.max(...widthsOf(lines))).toBeLessThanOrEqual(30);
    expect(lines.replaceAll(/\n\s*/g, '')).toContain('/folder'.repeat(10));
  });
});

test('facts wrap beside their name', () => {
  expect(
    facts(
      [
        ['status', green('Error')],
        ['reason', 'It ended with exit code 1: it failed.'],
      ],
      page(30),
    ),
  ).toBe(`status  ${green('Error')}\nreason  It ended with exit\n        code 1: it failed.`);
});
