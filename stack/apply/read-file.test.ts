import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { mergeWanted, saidTwice } from './merge-wanted.ts';
import { refuseMistaken } from './mistakes.ts';
import { readApplyFile } from './read-file.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

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

/** The content of one file, or the one error about it. */
function read(file: string, env = {}): WantedWorkspace {
  const { wanted, mistakes } = readApplyFile(file, env);
  refuseMistaken(mistakes);
  return wanted;
}

const refusalOf = (text: string, env = {}) => refusal(() => read(write('p.yaml', text), env));

describe('a file', () => {
  test('is resolved completely: folders, variables, env files, instructions', () => {
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
    const wanted = read(file, { MY_KEY: 'secret' });
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

  test('without content asks for nothing', () => {
    expect(read(write('p.yaml', ''))).toEqual({
      workspace: 'Default',
      mcpServers: [],
      skills: [],
      roles: [],
    });
  });
});

describe('a mistake is reported with its place', () => {
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
    [
      'a wrong type',
      server('command: [npx]'),
      'p.yaml:2:17 mcpServers.a.command must be the command to run, in quotes where YAML takes it for something else.',
    ],
    ['neither command nor url', server('cwd: .'), /mcpServers\.a must have either command or url/],
    [
      'both',
      server('command: x, url: https://a.example'),
      'p.yaml:2:6 mcpServers.a has both command and url: keep one of them.',
    ],
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
      'a launch that is too large',
      server(`command: x, args: [${'a'.repeat(65_536)}]`),
      /^p\.yaml:2:\d+ mcpServers\.a: the launch has \d+ bytes as JSON, and may have 65536 at most\.$/,
    ],
    [
      'an env file that is not there',
      server('command: x, envFile: no.env'),
      /^p\.yaml:2:29 "no\.env" cannot be read: it does not exist\.$/,
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
      'p.yaml:2:30 "no.md" cannot be read: it does not exist.',
    ],
    [
      'a folder without SKILL.md',
      'skills:\n  - { from: no }\n',
      'p.yaml:2:13 "no/SKILL.md" cannot be read: it does not exist.',
    ],
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

  const long = 'x'.repeat(1025);
  const broken: readonly [what: string, text: string, told: string][] = [
    [
      'a skill',
      'skills:\n  - { name: Not A Name }\n',
      'p.yaml:2:13 skills.0.name: "Not A Name" is not a valid name for a skill: it must be 1 to 64 of a-z, 0-9 and single hyphens between them.',
    ],
    [
      'a role',
      'roles:\n  - { name: a/b }\n',
      'p.yaml:2:13 roles.0.name: "a/b" is not a valid name for a role: it must be 1 to 64 letters, digits, spaces, hyphens, underscores and dots.',
    ],
    [
      'an MCP server',
      'mcpServers:\n  a.b: { command: x }\n',
      'p.yaml:2:3 mcpServers.a.b: "a.b" is not a valid name for an MCP server: it must be 1 to 32 of a-z, A-Z, 0-9, _ and -.',
    ],
    [
      'a runtime',
      server('command: x, runtime: "?"'),
      'p.yaml:2:29 mcpServers.a.runtime: "?" is not a valid name for a runtime: it must be 1 to 64 letters, digits, spaces, hyphens, underscores and dots.',
    ],
    [
      'a workspace',
      'workspace: "a:b"\n',
      'p.yaml:1:12 workspace: "a:b" is not a valid name for a workspace: it must be 1 to 64 letters, digits, spaces, hyphens, underscores and dots.',
    ],
    [
      'a description',
      `skills:\n  - { name: x, description: ${long} }\n`,
      'p.yaml:2:29 skills.0.description: The description is too long: at most 1024 characters.',
    ],
    [
      'the name of a tool',
      `skills:\n  - { name: x, tools: [a/${'t'.repeat(1001)}] }\n`,
      'p.yaml:2:24 skills.0.tools.0 must be MCPSERVER/TOOL, such as files/read_file, with at most 1000 characters after the /.',
    ],
    [
      'the tools of a skill',
      `skills:\n  - { name: x, tools: [${Array(1001).fill('a/b').join(', ')}] }\n`,
      'p.yaml:2:23 skills.0.tools must be a list of tools, at most 1,000 of them.',
    ],
    [
      'the skills of a role',
      `roles:\n  - { name: x, skills: [${Array(1001).fill('a').join(', ')}] }\n`,
      'p.yaml:2:24 roles.0.skills must be a list of names of skills, at most 1,000 of them.',
    ],
    [
      'a variable of a launch',
      server('command: x, env: { A-B: 1 }'),
      'p.yaml:2:32 mcpServers.a: "A-B" in "env" is not a valid name: it must be letters, digits and _, not starting with a digit.',
    ],
    ['a URL', server('url: x.example'), 'p.yaml:2:13 mcpServers.a: "url" is "x.example": it must be a full URL.'],
  ];
  for (const [what, text, told] of broken) {
    test(`${what} that breaks the rule of the platform`, () => expect(refusalOf(text)).toBe(told));
  }

  test('names and descriptions of a folder', () => {
    write('s/SKILL.md', `---\nname: Not A Name\ndescription: ${long}\n---\n`);
    const told = refusalOf('skills:\n  - { from: s }\n').split('\n');
    expect(told).toEqual([
      expect.stringMatching(/^p\.yaml:2:7 skills\.0\.from: "Not A Name" is not a valid name for a skill/),
      'p.yaml:2:7 skills.0.from: The description is too long: at most 1024 characters.',
    ]);
    write('s/SKILL.md', `---\nname: Not A Name\ndescription: ${long}\n---\n`);
    expect(read(write('p.yaml', 'skills:\n  - { from: s, name: a, description: b }\n')).skills[0]).toMatchObject({
      name: 'a',
      description: 'b',
    });
  });

  test('all problems of a launch', () => {
    const told = refusalOf(server('url: "file:///x", headers: { "a b": 1, Host: 2 }')).split('\n');
    expect(told).toEqual([
      expect.stringContaining('"url" starts with "file:"'),
      expect.stringContaining('"a b" in "headers" is not a valid name'),
      expect.stringContaining('"Host" in "headers" belongs to the connection'),
    ]);
  });

  test('of any field, besides all others', () => {
    const told = refusalOf(`mcpServers:
  c: { comand: x }
skills:
  - { name: Not A Name, tools: [read] }
roles: [{ name: x, skils: [] }]
skils: []
`).split('\n');
    expect(told.map((line) => line.replace(/^p\.yaml:(\d+):\d+ /, '$1 ').slice(0, 40))).toEqual([
      '2 "mcpServers.c.comand" is not a field. ',
      '4 skills.0.name: "Not A Name" is not a v',
      '4 skills.0.tools.0 must be MCPSERVER/TOO',
      '5 "roles.0.skils" is not a field. Did yo',
      '6 "skils" is not a field. Did you mean "',
    ]);
  });

  test('of any kind, once the fields are right', () => {
    const told = refusalOf(`mcpServers:
  a.b: { command: x }
  c: { command: x, env: { A: { fromEnv: NOTHING } } }
skills:
  - { name: b, from: no }
`).split('\n');
    expect(told.map((line) => line.replace(/^p\.yaml:(\d+):\d+ /, '$1 ').slice(0, 40))).toEqual([
      '2 mcpServers.a.b: "a.b" is not a valid n',
      '3 mcpServers.c.env.A comes from the envi',
      '5 "no/SKILL.md" cannot be read: it does ',
    ]);
  });

  test('all at once, in the order of the lines', () => {
    const message = refusalOf('skills:\n  - { name: a, instructions: no.md }\n  - { name: b, from: no }\n');
    expect(message.split('\n')).toHaveLength(2);
  });

  test('a SKILL.md with other content', () => {
    write('s/SKILL.md', '# No front matter\n');
    expect(refusalOf('skills:\n  - { from: s }\n')).toBe(
      'p.yaml:2:13 s/SKILL.md must begin with "---", a name and a description, and "---".',
    );
  });

  test("instructions longer than the platform's limit", () => {
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
  test('are merged, workspace by workspace', () => {
    const files = [
      write('a.yaml', 'roles:\n  - { name: A }\n'),
      write('b.yaml', 'roles:\n  - { name: B }\n'),
      write('c.yaml', 'workspace: Other\nroles:\n  - { name: A }\n'),
    ];
    const merged = mergeWanted(files.map((file) => read(file)));
    expect(merged.map(({ workspace, roles }) => [workspace, roles.map(({ name }) => name)])).toEqual([
      ['Default', ['A', 'B']],
      ['Other', ['A']],
    ]);
  });

  test('may not define the same thing twice', () => {
    const files = [write('a.yaml', 'roles:\n  - { name: A }\n'), write('b.yaml', '\nroles:\n  - { name: A }\n')];
    const message = refusal(() => refuseMistaken(mergeWanted(files.map((file) => read(file))).flatMap(saidTwice)));
    expect(message).toBe('b.yaml:3:5 The role "A" is defined already, at a.yaml:2.');
  });
});

test('a text that cannot be stored is found with its place', () => {
  const told = refusalOf('skills:\n  - { name: ok }\n  - { name: bad, description: "a\\0b" }\n');
  expect(told).toMatch(/^p\.yaml:3:\d+ skills\.1\.description: The description holds a zero byte/);
  write('zero.md', 'a\0b');
  expect(refusalOf('skills:\n  - { name: ok, instructions: zero.md }\n')).toMatch(/^p\.yaml:2:.*zero byte/);
});
