import { expect, test } from 'vitest';
import { readTypedRule, searchOf } from './typed-rule.ts';

test.each([
  ['files/delete_*', { mcpServer: 'files', tool: 'delete_*' }],
  [' files / a/b ', { mcpServer: 'files', tool: 'a/b' }],
  ['files/', null],
  ['/delete', null],
  ['delete', null],
  ['', null],
])('"%s" as a rule', (text, rule) => {
  expect(readTypedRule(text)).toEqual(rule);
});

test.each([
  ['', { mcpServer: null, tool: null }],
  ['fil', { mcpServer: 'fil', tool: 'fil' }],
  ['files/', { mcpServer: 'files', tool: null }],
  ['files/*', { mcpServer: 'files', tool: null }],
  ['files/get_*_secret*', { mcpServer: 'files', tool: '_secret' }],
])('"%s" is looked for', (text, search) => {
  expect(searchOf(text)).toEqual(search);
});
