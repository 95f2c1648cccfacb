import { expect, test } from 'vitest';
import { rulesAfter } from './rules-after.ts';

const rule = (effect: 'allow' | 'deny', tool: string) => ({ effect, tool, mcpServer: { name: 'files' } });
const ref = (tool: string) => ({ mcpServer: 'files', tool });
const live = { rules: [rule('allow', 'read'), rule('deny', 'write')] };

test.each([
  ['a file without rules keeps all', {}, live, undefined],
  ['a new role without rules has none', {}, null, undefined],
  [
    'rules of the effect that the file does not name stay',
    { deny: [ref('delete')] },
    live,
    [
      { effect: 'allow', ...ref('read') },
      { effect: 'deny', ...ref('delete') },
    ],
  ],
  ['an empty list removes those of its effect', { allow: [] }, live, [{ effect: 'deny', ...ref('write') }]],
  ['a new role has those of the file', { allow: [ref('*')] }, null, [{ effect: 'allow', ...ref('*') }]],
])('%s', (_what, wanted, present, expected) => {
  expect(rulesAfter(wanted, present)).toEqual(expected);
});
