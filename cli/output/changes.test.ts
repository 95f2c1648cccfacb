import { expect, test } from 'vitest';
import type { Change } from '../../stack/apply/apply.ts';
import type { Difference } from '../../stack/apply/plan-changes.ts';
import { describeChange } from './changes.ts';

const skill = { kind: 'skill', workspace: 'Default', name: 'read', fields: [] } as const;
const lines = (change: Change) => describeChange(change, { paint: (_, text) => text }).split('\n');
const updated = (...differences: readonly Difference[]) => lines({ ...skill, action: 'update', differences });

test('a change has a sign, the kind and the name', () => {
  const signs = (['create', 'update', 'delete'] as const).map((action) => lines({ ...skill, action, differences: [] }));
  expect(signs).toEqual([['+ skill read'], ['~ skill read'], ['- skill read']]);
});

test('an update shows each value before and after', () => {
  expect(
    updated(
      { field: 'description', from: '', to: 'Read "all"' },
      { field: 'enabled', from: false, to: true },
      { field: 'env', from: '[secret]', to: '[secret]' },
    ),
  ).toEqual([
    '~ skill read',
    '    description: nothing → "Read \\"all\\""',
    '    enabled: false → true',
    '    env: [secret], a new value',
  ]);
});

test('of a list it shows what comes and what goes', () => {
  const tools = { field: 'tools', from: ['files/a', 'files/b'], to: ['files/b', 'files/c'] };
  expect(updated(tools)).toEqual(['~ skill read', '    tools:', '      + files/c', '      - files/a']);
});

test('of a long text it shows the lines that differ', () => {
  const instructions = { field: 'instructions', from: 'One\nTwo\nThree', to: 'One\n2\nThree' };
  expect(updated(instructions)).toEqual(['~ skill read', '    instructions:', '      + 2', '      - Two']);
});

test('texts that are too long to compare are counted', () => {
  const text = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word} ${at}`).join('\n');
  const started = performance.now();
  expect(updated({ field: 'instructions', from: text('a'), to: text('b') }).at(-1)).toBe(
    '      3000 lines → 3000 lines',
  );
  expect(performance.now() - started).toBeLessThan(500);
});

test('a name of another person cannot imitate a line of svc', () => {
  const difference = { field: 'tools', from: [], to: ['files/a\n- skill other'] };
  expect(updated(difference).slice(2)).toEqual(['      + files/a · - skill other']);
});
