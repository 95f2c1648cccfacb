import { expect, test } from 'vitest';
import { nearest, suggestion } from './did-you-mean.ts';

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

test('names the known words when none is near, and not hundreds of them', () => {
  expect(suggestion('quux', words)).toBe('Known here: ports, publicUrls, runtime, remote-mcp.');
  const many = Array.from({ length: 100 }, (_, at) => `tool-${at}`);
  expect(suggestion('quux', many)).toMatch(/^Known here: tool-0, .*, tool-19 and 80 others\.$/);
  expect(suggestion('quux', [])).toBe('There is none yet.');
});
