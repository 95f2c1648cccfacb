import { expect, test } from 'vitest';
import { nearest } from './did-you-mean.ts';

const words = ['ports', 'publicUrls', 'runtime', 'remote-mcp'];

test('finds the intended word through typos and swapped letters', () => {
  expect(nearest('prots', words)).toBe('ports');
  expect(nearest('publicurls', words)).toBe('publicUrls');
  expect(nearest('remotemcp', words)).toBe('remote-mcp');
});

test('returns null when no word is near', () => {
  expect(nearest('quux', words)).toBeNull();
  expect(nearest('', words)).toBeNull();
  expect(nearest('x', [])).toBeNull();
});
