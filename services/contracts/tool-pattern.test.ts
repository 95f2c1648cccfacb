import { describe, expect, test } from 'vitest';
import { byOriginalName, followTools, isToolPattern, parseToolPattern, toolMatcher } from './tool-pattern.ts';
import { toolNameLengthMax, toolsOfSkillMax } from './workspace-limits.ts';

describe('a pattern of tools', () => {
  test.each([
    ['*', ['', 'read', 'a/b'], []],
    ['read_*', ['read_', 'read_file', 'read_*'], ['read', 'aread_x', 'Read_x']],
    ['*_file', ['_file', 'read_file'], ['read_files', 'file']],
    ['a*a', ['aa', 'aba'], ['a', 'ab']],
    ['*a*b*', ['ab', 'xaxbx'], ['ba', 'a', '']],
    ['a*b*c', ['abc', 'a-b-c', 'abcbc'], ['acb', 'ab', 'abxcx']],
    ['ab*ba', ['abba', 'ab-ba'], ['aba']],
    ['*ab*ab', ['abab', 'xab-ab'], ['ab', 'xab']],
    // Every other character stands for itself.
    ['read.*', ['read.file'], ['read_file', 'readfile']],
    ['[a-z]?(x)+$^\\*', ['[a-z]?(x)+$^\\', '[a-z]?(x)+$^\\n'], ['a(x)+']],
    ['read', ['read'], ['reads', '']],
  ])('%s', (pattern, matching, others) => {
    const matches = toolMatcher(pattern);
    expect(matching.filter((name) => !matches(name))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  test('takes linear time, however it is written', () => {
    const name = 'a'.repeat(toolNameLengthMax);
    const pattern = parseToolPattern(`${'a*'.repeat(toolNameLengthMax / 2 - 1)}b`);
    const matches = toolMatcher(pattern);
    const startedAt = performance.now();
    for (let count = 0; count < 1000; count++) expect(matches(name)).toBe(false);
    // A matcher that goes back over the name would take longer than the universe.
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  test('has one stored form', () => {
    expect(isToolPattern('read_file')).toBe(false);
    expect(isToolPattern('read_*')).toBe(true);
    expect(parseToolPattern('**a***b*')).toBe('*a*b*');
    expect(() => parseToolPattern('*'.repeat(toolNameLengthMax + 1))).toThrow('at most 1000');
    expect(() => parseToolPattern('a\0*')).toThrow('zero byte');
    expect(() => parseToolPattern('\ud800*')).toThrow('half a character');
  });
});

describe('the tools of a skill', () => {
  const tool = (originalName: string) => ({ id: `id of ${originalName}`, originalName });
  const listed = (...names: string[]) => names.map(tool);

  test('are the named ones, then the matching ones by name, each once', () => {
    const servers: Record<string, ReturnType<typeof listed>> = {
      b: listed('read_b', 'read_a', 'write').sort(byOriginalName),
      a: listed('z'),
    };
    const patterns = [
      { mcpServer: 'b', pattern: 'read_*' },
      { mcpServer: 'b', pattern: '*_b' },
      { mcpServer: 'a', pattern: '*' },
    ];
    const { tools, leftOut } = followTools(listed('read_b', 'gone'), patterns, (server) => servers[server] ?? []);
    expect(tools.map(({ originalName }) => originalName)).toEqual(['read_b', 'gone', 'z', 'read_a']);
    expect(leftOut).toBe(0);
  });

  test('beyond the limit, the last matching ones are left out', () => {
    const many = listed(
      ...Array.from({ length: toolsOfSkillMax + 5 }, (_, number) => `t${String(number).padStart(4, '0')}`),
    );
    const { tools, leftOut } = followTools(listed('own'), [{ mcpServer: 's', pattern: 't*' }], () => many);
    expect([tools.length, tools[0]?.originalName, tools.at(-1)?.originalName]).toEqual([
      toolsOfSkillMax,
      'own',
      't0998',
    ]);
    expect(leftOut).toBe(6);
  });
});
