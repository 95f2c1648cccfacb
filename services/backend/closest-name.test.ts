import { expect, test } from 'vitest';
import { closestName } from './closest-name.ts';

const names = ['files', 'crm', 'everything', 'memory'];

test.each([
  ['fiels', 'files'],
  ['file', 'files'],
  ['FILES', 'files'],
  ['evrything', 'everything'],
  ['crn', 'crm'],
  ['memroy', 'memory'],
])('"%s" means "%s"', (given, meant) => {
  expect(closestName(given, names)).toBe(meant);
});

test.each(['', 'x', 'weather', 'filesystem-of-mine'])('"%s" means none of them', (given) => {
  expect(closestName(given, names)).toBe(null);
});

test('of two that are near the nearer one', () => {
  expect(closestName('abcdef', ['abcdxx', 'abcdex'])).toBe('abcdex');
  expect(closestName('abcdef', ['abcdex', 'abcdxx'])).toBe('abcdex');
});
