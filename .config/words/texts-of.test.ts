import { expect, test } from 'vitest';
import { textsOf } from './texts-of.ts';

test('finds messages and hints with their line, and marks the gaps of a template', () => {
  const source = [
    "import { a } from './a.ts';",
    `fail('not_found', \`There is no \${kind} "\${name}".\`, {`,
    "  hint: 'List them: svc server list',",
    '});',
  ].join('\n');
  expect(textsOf(source)).toEqual([
    { line: 2, words: 'There is no … "…".' },
    { line: 3, words: 'List them: svc server list' },
  ]);
});

test('leaves out names, codes and patterns', () => {
  expect(textsOf("call('invalid_input', 'x', /two words/, 'a-b', 17);")).toEqual([]);
});
