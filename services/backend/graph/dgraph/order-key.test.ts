import { expect, it } from 'vitest';
import type { Value } from '../node-rules.ts';
import { compareKeys, orderKey, type Stretch, stretches } from './order-key.ts';

const texts = [
  '',
  ' ',
  '!',
  '10',
  '9',
  'A',
  'a',
  'a!',
  'a b',
  'aa',
  'b',
  '\u0001',
  'é',
  '\ud7ff',
  '\ue000',
  '\u{1f600}',
  '\u{10ffff}',
  '\u{10ffff}a',
];
const numbers = [Number.MIN_SAFE_INTEGER, -10, -1, 0, 1, 9, 10, 2 ** 40, Number.MAX_SAFE_INTEGER];
const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

it('order text by its bytes, numbers by value, and equal values by id', () => {
  const inOrder = [...texts].sort(byBytes);
  expect(sorted(inOrder)).toEqual(inOrder);
  expect(sorted(numbers)).toEqual(numbers);
  const ids = ['rol_1', 'rol_2'].map((id) => orderKey('w', 'a', id));
  expect(ids.toSorted(compareKeys)).toEqual(ids);
  expect(compareKeys(orderKey('w', 'a', 'z'), orderKey('w', 'a!', 'a'))).toBeLessThan(0);
});

it('sort nodes without a value last', () => {
  for (const value of [...texts, ...numbers]) {
    expect(compareKeys(orderKey('w', value, 'z'), orderKey('w', null, 'a'))).toBeLessThan(0);
  }
});

it('of one prefix are contiguous', () => {
  for (const beginning of texts) {
    const stretch = stretches.beginning('w', beginning);
    for (const text of texts) {
      expect(isIn(stretch, orderKey('w', text, 'rol_1')), `${text} in ${beginning}…`).toBe(text.startsWith(beginning));
      expect(isIn(stretch, orderKey('x', text, 'rol_1'))).toBe(false);
    }
    expect(isIn(stretch, orderKey('w', null, 'rol_1'))).toBe(false);
  }
});

it('of one value are contiguous', () => {
  for (const wanted of [...texts, ...numbers]) {
    const stretch = stretches.equal('w', wanted);
    for (const value of [...texts, ...numbers].filter((one) => typeof one === typeof wanted)) {
      expect(isIn(stretch, orderKey('w', value, 'rol_1'))).toBe(value === wanted);
    }
  }
});

it('of a range include its start and not its end', () => {
  for (const from of [null, ...numbers]) {
    for (const below of [null, ...numbers]) {
      const stretch = stretches.between('w', from, below);
      for (const value of numbers) {
        const isWanted = (from === null || value >= from) && (below === null || value < below);
        expect(isIn(stretch, orderKey('w', value, 'rol_1')), `${from} ≤ ${value} < ${below}`).toBe(isWanted);
      }
      expect(isIn(stretch, orderKey('w', null, 'rol_1'))).toBe(false);
    }
  }
});

it('stay short, however long a value is, and never end in the middle of a character', () => {
  for (const text of ['x'.repeat(1_000_000), `${'x'.repeat(499)}${'\u{1f600}'.repeat(10)}`]) {
    const key = orderKey('w', text, 'rol_1');
    expect(key.length).toBeLessThan(600);
    expect(key.isWellFormed()).toBe(true);
    expect(isIn(stretches.beginning('w', text), key)).toBe(true);
  }
});

function sorted<Kind extends Value>(values: readonly Kind[]): Kind[] {
  return values
    .map((value) => ({ value, key: orderKey('w', value, 'rol_1') }))
    .sort((one, other) => compareKeys(one.key, other.key) || 0)
    .map(({ value }) => value);
}

function isIn({ from, to }: Stretch, key: string): boolean {
  return compareKeys(key, from) >= 0 && compareKeys(key, to) <= 0;
}
