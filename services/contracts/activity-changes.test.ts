import { describe, expect, test } from 'vitest';
import { differences } from '../backend/activity/record-activity.ts';
import { type Changes, describeChanges, mergeChanges, parseChanges } from './activity-changes.ts';

const told = (...latestFirst: readonly Changes[]) =>
  describeChanges(mergeChanges(latestFirst.map((changes) => parseChanges(JSON.stringify(changes)))));

describe('changes in a sentence', () => {
  test.each<[string, Changes, string]>([
    ['a text', { description: { from: 'a', to: 'b' } }, 'description from "a" to "b"'],
    ['a new value', { callTimeout: { from: null, to: 5 } }, 'callTimeout from none to 5'],
    ['a switch', { enabled: { from: true, to: false } }, 'enabled from true to false'],
    ['a moment', { expiresAt: { from: null, to: 0 } }, 'expiresAt from none to 1970-01-01T00:00:00.000Z'],
    ['a long or secret value', { instructions: 'changed', args: 'changed' }, 'instructions; args'],
    ['a list', { tools: { from: ['a', 'b'], to: ['b', 'c'] } }, 'tools with "c" and without "a"'],
    ['a new list', { newValues: { from: null, to: ['TOKEN'] } }, 'newValues with "TOKEN"'],
    ['a list in place of a word', { roles: { from: 'all', to: ['A'] } }, 'roles from "all" to "A"'],
    ['tools that left with their MCP server', differences({}, { removedTools: ['a/b'] }), 'tools without "a/b"'],
    ['a file', { 'file a.md': { to: 'digest' } }, 'file a.md added'],
    ['another file', { 'file a.md': { from: 'one', to: 'two' } }, 'file a.md replaced'],
    ['no file any more', { 'file a.md': { from: 'one' } }, 'file a.md removed'],
    ['a rotation', { replaces: { to: 'key_1' }, disclosure: { to: 'all' } }, 'another key replaces it'],
    ['nothing', {}, ''],
  ])('%s', (_, changes, sentence) => expect(told(changes)).toBe(sentence));

  test('several of one field are one, from the oldest value to the latest', () => {
    const [one, two] = [{ name: { from: 'a', to: 'b' } }, { name: { from: 'b', to: 'c' } }];
    expect(told(two, one)).toBe('name from "a" to "c"');
  });

  test('a value that is as before is none', () => {
    expect(told({ name: { from: 'b', to: 'a' } }, { name: { from: 'a', to: 'b' } })).toBe('');
  });

  test('what is long is cut', () => {
    const many = Array.from({ length: 7 }, (_, at) => `t${at}`);
    expect(told({ tools: { from: [], to: many } })).toBe('tools with "t0", "t1", "t2", "t3", "t4" and 2 more');
    expect(told({ name: { from: 'a', to: 'b'.repeat(90) } })).toBe(`name from "a" to "${'b'.repeat(80)}…"`);
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, 'changed' as const]));
    expect(told(fields)).toMatch(/^f0; .*; f9; 2 more$/);
  });
});
