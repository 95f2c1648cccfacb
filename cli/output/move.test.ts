import { expect, test } from 'vitest';
import { aboutFolders } from './move.ts';

const place = 'runtime.allowedPaths in svc.yaml';

test('each folder that is not seen in containers is named once, with what to do', () => {
  const unseen = ['one', 'two', 'three'].map((mcpServer) => ({ mcpServer, folder: '/srv/a' }));
  expect(aboutFolders([...unseen, { mcpServer: 'four', folder: '/srv/b' }])).toEqual([
    `  folder     "/srv/a" is not there, so that one and 2 more won't start: name it in ${place}, and it can be read`,
    `  folder     "/srv/b" is not there, so that four won't start: name it in ${place}, and it can be read`,
  ]);
  expect(aboutFolders([])).toEqual([]);
});

test('of many it says how many there are', () => {
  const unseen = Array.from({ length: 12 }, (_, index) => ({ mcpServer: 'one', folder: `/srv/${index}` }));
  const lines = aboutFolders(unseen);
  expect([lines.length, lines.at(-1)]).toEqual([11, '  folders    2 more are not there']);
});

test('where nobody could look it says what to look for', () => {
  expect(aboutFolders(null)).toEqual([
    `  folders    MCP servers that have one of this machine need it in ${place}; which, is known while it runs`,
  ]);
});
