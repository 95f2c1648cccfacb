import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { mergeWanted } from './merge-wanted.ts';
import { readApplyFile } from './read-file.ts';

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-apply-')));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof SvcError) return error.message.replaceAll(`${dir}/`, '');
    throw error;
  }
  throw new Error('nothing was refused');
}

const refusalOf = (text: string, env = {}) => refusal(() => readApplyFile(write('p.yaml', text), env));

describe('a file', () => {
  test('is resolved whole: folders, variables, env files, instructions', () => {
    write('crm.env', 'TOKEN="from file"\nLOG=from-file\n');
    write('skills/read.md', '# Read\n');
    write('skills/folder/SKILL.md', '---\nname: from-folder\ndescription: Told there\n---\n\nDo this.\n');
    const file = write(
      'p.yaml',
      `workspace: Acme
mcpServers:
  files: { command: npx, args: [-y, "@scope/server", 1], cwd: ./docs, env: { LOG: 1, KEY: { fromEnv: MY_KEY } }, envFile: crm.env }
  crm: { url: "https://crm.example/mcp", headers: { Authorization: { fromEnv: MY_KEY } }, enabled: false, runtime: edge }
skills:
  - name: read-documents
    description: Read
    instructions: ./skills/read.md
    tools: [files/read_file, files/a/b]
  - from: skills/folder
    description: Told here
roles:
  - { name: Reader, skills: [read-documents] }
`,
    );
    const wanted = readApplyFile(file, { MY_KEY: 'secret' });
    expect(wanted).toMatchObject({
      workspace: 'Acme',
      mcpServers: [
        {
          name: 'files',
          place: { file, line: 3, column: 3 },
          launch: {
            command: 'npx',
            args: ['-y', '@scope/server', '1'],
            cwd: join(dir, 'docs'),
            env: [
              { name: 'TOKEN', value: 'from file' },
              { name: 'LOG', value: '1' },
              { name: 'KEY', value: 'secret' },
            ],
          },
          runtime: null,
          enabled: true,
        },
        {
          name: 'crm',
          launch: { url: 'https://crm.example/mcp', headers: [{ name: 'Authorization', value: 'secret' }] },
          runtime: 'edge',
          enabled: false,
        },
      ],
      skills: [
        {
          name: 'read-documents',
          instructions: '# Read\n',
          tools: [
            { mcpServer: 'files', tool: 'read_file' },
            { mcpServer: 'files', tool: 'a/b' },
          ],
        },
        { name: 'from-folder', description: 'Told here', instructions: 'Do this.', tools: [] },
      ],
      roles: [{ name: 'Reader', description: '', enabled: true, skills: ['read-documents'] }],
    });
  });

  test('that says nothing asks for nothing', () => {
    expect(readApplyFile(write('p.yaml', ''), {})).toEqual({
      workspace: 'Default',
      mcpServers: [],
      skills: [],
      roles: [],
    });
  });
});

describe('a mistake is told with its place', () => {
  const server = (fields: string) => `mcpServers:\n  a: { ${fields} }\n`;
  const rows: readonly [what: string, text: string, told: string | RegExp][] = [
    ['an unknown section', 'skils: []\n', 'p.yaml:1:1 "skils" is not a field. Did you mean "skills"?'],
    [
      'an unknown field',
      server('comand: npx'),
      'p.yaml:2:8 "mcpServers.a.comand" is not a field. Did you mean "command"?',
    ],
    [
      'an unknown source',
      server('command: x, env: { A: { fromFile: x } }'),
      /^p\.yaml:2:\d+ mcpServers\.a\.env\.A must be a text, or \{ fromEnv: NAME \}\.$/,
    ],
    ['a wrong type', server('command: [npx]'), 'p.yaml:2:17 mcpServers.a.command must be the command to run.'],
    ['neither command nor url', server('cwd: .'), /mcpServers\.a must have either command or url/],
    ['both', server('command: x, url: https://a.example'), /mcpServers\.a must have either command or url/],
    [
      'headers without a url',
      server('command: x, headers: { A: b }'),
      'p.yaml:2:29 headers belongs to url, which is not here.',
    ],
    [
      'a variable that is not set',
      server('command: x, env: { A: { fromEnv: NOTHING } }'),
      /^p\.yaml:2:\d+ mcpServers\.a\.env\.A comes from the environment variable NOTHING, which is not set\.$/,
    ],
    [
      'an env file that is not there',
      server('command: x, envFile: no.env'),
      /^p\.yaml:2:29 "no\.env" cannot be read \(ENOENT\)\.$/,
    ],
    ['a skill without a name', 'skills:\n  - description: x\n', 'p.yaml:2:5 skills.0 must have a name.'],
    [
      'a tool without its MCP server',
      'skills:\n  - { name: x, tools: [read] }\n',
      'p.yaml:2:24 skills.0.tools.0 must be MCPSERVER/TOOL, such as files/read_file.',
    ],
    [
      'instructions that are not there',
      'skills:\n  - { name: x, instructions: no.md }\n',
      'p.yaml:2:30 "no.md" cannot be read (ENOENT).',
    ],
    ['a folder without SKILL.md', 'skills:\n  - { from: no }\n', 'p.yaml:2:13 "no/SKILL.md" cannot be read (ENOENT).'],
    ['a role without a name', 'roles:\n  - { skills: [] }\n', 'p.yaml:2:5 roles.0.name must be the name of the role.'],
    [
      'a list where fields belong',
      '- a\n',
      'p.yaml:1:1 The file must be fields: workspace, mcpServers, skills, roles.',
    ],
    ['broken YAML', 'roles: [\n', /^p\.yaml:\d+:\d+ /],
  ];
  for (const [what, text, told] of rows) {
    test(what, () => {
      const message = refusalOf(text);
      if (typeof told === 'string') expect(message).toBe(told);
      else expect(message).toMatch(told);
    });
  }

  test('all at once, in the order of the lines', () => {
    const message = refusalOf('skills:\n  - { name: a, instructions: no.md }\n  - { name: b, from: no }\n');
    expect(message.split('\n')).toHaveLength(2);
  });

  test('a SKILL.md that is something else', () => {
    write('s/SKILL.md', '# No front matter\n');
    expect(refusalOf('skills:\n  - { from: s }\n')).toBe(
      'p.yaml:2:13 s/SKILL.md must begin with "---", a name and a description, and "---".',
    );
  });

  test('instructions longer than the platform takes', () => {
    write('long.md', 'x'.repeat(256 * 1024 + 1));
    expect(refusalOf('skills:\n  - { name: x, instructions: long.md }\n')).toBe(
      'p.yaml:2:30 "long.md" is longer than 262144 bytes.',
    );
  });

  test('a secret is not repeated', () => {
    expect(refusalOf(server('command: x, url: y, env: { A: { fromEnv: K } }'), { K: 'hush' })).not.toContain('hush');
  });
});

describe('several files', () => {
  test('are one, workspace by workspace', () => {
    const files = [
      write('a.yaml', 'roles:\n  - { name: A }\n'),
      write('b.yaml', 'roles:\n  - { name: B }\n'),
      write('c.yaml', 'workspace: Other\nroles:\n  - { name: A }\n'),
    ];
    const merged = mergeWanted(files.map((file) => readApplyFile(file, {})));
    expect(merged.map(({ workspace, roles }) => [workspace, roles.map(({ name }) => name)])).toEqual([
      ['Default', ['A', 'B']],
      ['Other', ['A']],
    ]);
  });

  test('may not say the same thing twice', () => {
    const files = [write('a.yaml', 'roles:\n  - { name: A }\n'), write('b.yaml', '\nroles:\n  - { name: A }\n')];
    const message = refusal(() => mergeWanted(files.map((file) => readApplyFile(file, {}))));
    expect(message).toBe('b.yaml:3:5 The role "A" is there already, at a.yaml:2.');
  });
});
