import { expect, test } from 'vitest';
import { aboutFolders, describeMoved } from './move.ts';

const place = 'runtime.allowedPaths in svc.yaml';

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

test('each folder that containers do not see is named once, with the repair', () => {
  const unseen = ['one', 'two', 'three'].map((mcpServer) => ({ mcpServer, folder: '/srv/a' }));
  expect(aboutFolders([...unseen, { mcpServer: 'four', folder: '/srv/b' }])).toEqual([
    `  folder     "/srv/a" is not there, so that one and 2 more won't start: name it in ${place}, and it can be read`,
    `  folder     "/srv/b" is not there, so that four won't start: name it in ${place}, and it can be read`,
  ]);
  expect(aboutFolders([])).toEqual([]);
});

test('of many folders it gives the number', () => {
  const unseen = Array.from({ length: 12 }, (_, index) => ({ mcpServer: 'one', folder: `/srv/${index}` }));
  const lines = aboutFolders(unseen);
  expect([lines.length, lines.at(-1)]).toEqual([11, '  folders    2 more are not there']);
});

test('if the folders could not be checked, it says what to check', () => {
  expect(aboutFolders(null)).toEqual([
    `  folders    MCP servers that have one of this machine need it in ${place}; which, is known while it runs`,
  ]);
});
