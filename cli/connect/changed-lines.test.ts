import { expect, test } from 'vitest';
import { describeChange } from './changed-lines.ts';

test('shows the changed lines only, and the key as [secret]', () => {
  const before = '{\n  "a": 1,\n  "b": 2\n}\n';
  const after = '{\n  "a": 1,\n  "b": 2,\n  "headers": "Bearer SVA_hidden"\n}\n';
  const own = '  "headers": "Bearer SVA_hidden"';
  expect(describeChange({ before, after, own, key: 'SVA_hidden' })).toBe(
    '@@ line 3 @@\n-  "b": 2\n+  "b": 2,\n+  "headers": "Bearer [secret]"',
  );
});

test('values of foreign lines are left out, and their names stay', () => {
  const before =
    '{"mcpServers": {"a": {"url": "https://a.example", "env": {"PLAIN": "hunter2"}, "args": ["hunter3"]}}}\n';
  const after = before.replace('}}}', '}, "platform": {"url": "u"}}}');
  const shown = describeChange({ before, after, own: '', key: null });
  expect(shown).not.toMatch(/hunter/);
  expect(shown).toContain('"env": {"PLAIN": "…"}');
  expect(shown).toContain('"url": "https://a.example"');
});

test('two places of a file are two hunks', () => {
  const before = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const after = before.toSpliced(30, 1).toSpliced(5, 0, 'new');
  expect(describeChange({ before: before.join('\n'), after: after.join('\n'), own: 'new', key: null })).toBe(
    '@@ line 6 @@\n+new\n@@ line 31 @@\n-line 30',
  );
});

test('an equal text has no change', () => {
  expect(describeChange({ before: 'a\n', after: 'a\n', own: '', key: null })).toBe('');
});
