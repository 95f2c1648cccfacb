import { describe, expect, test } from 'vitest';
import { formatSkillText, parseSkillText, type SkillText } from './skill-text.ts';

const skill = (more: Partial<SkillText>): SkillText => ({
  ...{ name: 'echo', description: 'Say it back', instructions: 'Do this.', tools: undefined },
  ...more,
});
const ref = (mcpServer: string, tool: string) => ({ mcpServer, tool });

describe('a skill is written and read back byte for byte', () => {
  test.each(
    Object.entries<Partial<SkillText>>({
      'without instructions': { instructions: '' },
      'with line breaks at both ends': { instructions: '\n\n# Do\n\nthis\n\n' },
      'with the line breaks of Windows': { instructions: '\r\n# Do\r\nthis\r\n' },
      'with lines of dashes': { instructions: '---\nname: other\n---\n', description: 'One --- two' },
      'with a description that looks like YAML': { description: '"yes": # [no]\n---\n{}: \u2028 é \\n' },
      'with the name of a number': { name: '12' },
      'with tools and patterns': { tools: [ref('files', '*'), ref('files', 'read_file')] },
      'with a name of a tool that has spaces': { tools: [ref('files', 'read, a file (slowly')] },
    }),
  )('%s', (_, more) => {
    const { unused, ...read } = parseSkillText(formatSkillText(skill(more)), 'SKILL.md');
    expect(read).toEqual(skill(more));
    expect(unused).toEqual([]);
  });
});

test('text of others: a byte order mark, line breaks of Windows, their fields, and tools of other programs', () => {
  const text = [
    '\uFEFF---',
    'name: pdf',
    'description: >',
    '  Fill forms',
    'license: MIT',
    'allowed-tools: Bash(git add:*), Read files/read_file files/search_* Bash(a/b)',
    'metadata: { author: someone }',
    '---',
    '',
    '# PDF',
    '',
  ].join('\r\n');
  expect(parseSkillText(text, 'SKILL.md')).toEqual({
    ...{ name: 'pdf', description: 'Fill forms\n', instructions: '# PDF' },
    tools: [ref('files', 'read_file'), ref('files', 'search_*')],
    unused: [
      'license',
      'metadata',
      'allowed-tools: Bash(git add:*)',
      'allowed-tools: Read',
      'allowed-tools: Bash(a/b)',
    ],
  });
});

test.each([
  ['no front matter', '# Echo\n'],
  ['front matter without an end', '---\nname: echo\n'],
  ['no name', '---\ndescription: x\n---\n'],
  ['a list for a name', '---\nname: [echo]\n---\n'],
  ['no YAML', '---\nname: ]\n---\n'],
  ['aliases without number', `---\nname: &a [*a]\n---\n`],
])('refused: %s', (_, text) => {
  expect(() => parseSkillText(text, 'x/SKILL.md')).toThrow('"x/SKILL.md" must begin with "---", a name');
});

test('instructions as long as the platform takes are read, and longer ones are not', () => {
  const [longest, longer] = ['x'.repeat(256 * 1024), 'x'.repeat(256 * 1024 + 1)];
  const read = (instructions: string) => parseSkillText(formatSkillText(skill({ instructions })), 'SKILL.md');
  expect(read(longest).instructions).toBe(longest);
  expect(() => read(longer)).toThrow('"SKILL.md" has instructions longer than 256 KB.');
});
