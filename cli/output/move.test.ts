import { expect, test } from 'vitest';
import { describeMoved } from './move.ts';

test('moved content is listed with its digest, and the graph by kind', () => {
  const kinds = ['graph', 'skill', 'bus.usage', 'files'] as const;
  const to = { topology: 'distributed', graph: 'sqlite', engine: 'process' } as const;
  const moved = kinds.map((kind, index) => ({ kind, count: index + 1, digest: 'ab' }));
  const from = { ...to, topology: 'embedded' } as const;
  expect(describeMoved({ state: 'moved', from, to, moved, kept: 'data/before', downMs: 2500 }).split('\n')).toEqual([
    'Moved from embedded with sqlite to distributed with sqlite. The platform was down for 2.5 s.',
    '  graph              1  sha256 ab',
    '  bus.usage          3  sha256 ab',
    '  files              4  sha256 ab',
    '  in the graph: skill 2',
    'The old side is in data/before.',
  ]);
});
