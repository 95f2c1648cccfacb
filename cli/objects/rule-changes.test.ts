import { expect, test } from 'vitest';
import { changeRules, parseRuleChange } from './rule-changes.ts';

const rule = (effect: 'allow' | 'deny', tool: string) => ({ effect, tool, mcpServer: { name: 'files' } });
const role = { name: 'Support', rules: [rule('allow', 'read_*'), rule('deny', 'a,b')] };
const nothing = { replace: undefined, add: undefined, remove: undefined };
const change = (more: object) => changeRules(role, { allow: nothing, deny: nothing, ...more });

test('without a change, no rule is sent', () => {
  expect(change({})).toEqual({ allow: undefined, deny: undefined, added: [], rules: undefined });
});

test('a change sends all rules, those of the other effect and those with a comma too', () => {
  const deny = parseRuleChange('deny', { ...nothing, add: ['files/delete_**'] });
  expect(change({ deny })).toEqual({
    ...{ allow: undefined, deny: ['files/a,b', 'files/delete_*'] },
    added: [{ effect: 'deny', mcpServer: 'files', tool: 'delete_*' }],
    rules: [
      { effect: 'allow', mcpServer: 'files', tool: 'read_*' },
      { effect: 'deny', mcpServer: 'files', tool: 'a,b' },
      { effect: 'deny', mcpServer: 'files', tool: 'delete_*' },
    ],
  });
});

test('a rule that the role does not have cannot be removed', () => {
  const allow = parseRuleChange('allow', { ...nothing, remove: ['files/other'] });
  expect(() => change({ allow })).toThrow('The role "Support" has no rule "allow files/other".');
  expect(() => parseRuleChange('deny', { ...nothing, add: ['delete'] })).toThrow('--add-deny must be MCPSERVER/TOOL');
});
