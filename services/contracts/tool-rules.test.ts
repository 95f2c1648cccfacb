import { expect, test } from 'vitest';
import { describeRefusal, hasLimits, isReadOnlyTool, refusalOf, type ToolRule } from './tool-rules.ts';

const rule = (effect: ToolRule['effect'], pattern: string, mcpServer = 'files'): ToolRule => ({
  ...{ effect, mcpServer, pattern },
});
const tool = (originalName: string, isReadOnly = false, mcpServer = 'files') => ({
  ...{ mcpServer, originalName, isReadOnly },
});
const kind = (rules: readonly ToolRule[], one: ReturnType<typeof tool>, readOnly = false) =>
  refusalOf({ readOnly, rules }, one)?.kind ?? null;

test('a role without limits lets every tool pass', () => {
  expect(hasLimits({ readOnly: false, rules: [] })).toBe(false);
  expect(kind([], tool('delete'))).toBe(null);
});

test('a rule that denies refuses what it names, and nothing else', () => {
  expect(kind([rule('deny', 'delete_*')], tool('delete_user'))).toBe('deny');
  expect(kind([rule('deny', 'delete_*')], tool('delete'))).toBe(null);
  expect(kind([rule('deny', 'delete')], tool('delete', false, 'crm'))).toBe(null);
});

test('rules that allow are the whole list, over all MCP servers', () => {
  const rules = [rule('allow', 'read_*'), rule('allow', 'list')];
  expect(kind(rules, tool('read_a'))).toBe(null);
  expect(kind(rules, tool('list'))).toBe(null);
  expect(kind(rules, tool('write'))).toBe('not_allowed');
  expect(kind(rules, tool('read_a', false, 'crm'))).toBe('not_allowed');
});

test('deny wins over allow, in either order', () => {
  const rules = [rule('allow', '*'), rule('deny', 'delete')];
  expect(kind(rules, tool('delete'))).toBe('deny');
  expect(kind(rules.toReversed(), tool('delete'))).toBe('deny');
  expect(kind(rules, tool('read'))).toBe(null);
});

test('read-only refuses a tool without the hint, also an allowed one', () => {
  expect(kind([], tool('read', true), true)).toBe(null);
  expect(kind([], tool('read', false), true)).toBe('read_only');
  expect(kind([rule('allow', 'read')], tool('read', false), true)).toBe('read_only');
  expect(kind([rule('deny', 'read')], tool('read', true), true)).toBe('deny');
});

test.each([
  [{ annotations: { readOnlyHint: true } }, true],
  [{ annotations: { readOnlyHint: false } }, false],
  [{ annotations: { readOnlyHint: 'true' } }, false],
  [{ annotations: { readOnlyHint: 1 } }, false],
  [{ annotations: {} }, false],
  [{ annotations: null }, false],
  [{}, false],
  [null, false],
])('only the hint true makes a tool read-only: %j', (definition, is) => {
  expect(isReadOnlyTool(definition)).toBe(is);
});

test('a refusal is described by its rule', () => {
  expect(describeRefusal({ kind: 'deny', rule: rule('deny', 'delete_*') }, 'files')).toBe('deny files/delete_*');
  expect(describeRefusal({ kind: 'not_allowed' }, 'files')).toBe('allowed tools only');
  expect(describeRefusal({ kind: 'read_only' }, 'files')).toBe('read-only');
});
