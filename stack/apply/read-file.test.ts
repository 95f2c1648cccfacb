import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { readApplyFile } from './read-file.ts';
import { findDuplicates, mergeFiles, refuseMistakes } from './wanted-workspace.ts';

const dir = folderOfEachTest();

function write(name: string, text: string): string {
  const file = join(dir(), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const read = (file: string, env = {}) => readApplyFile(file, env).wanted;

/** The mistakes in a file with this text, each with its line and column. */
const mistakesIn = (text: string, env = {}) =>
  readApplyFile(write('p.yaml', text), env).mistakes.map(({ line, column, message }) =>
    `${line}:${column} ${message}`.replaceAll(`${dir()}/`, ''),
  );

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
  - { name: Reader, skills: [read-documents], readOnly: true, allow: ["files/**"], deny: [crm/delete_x] }
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
            cwd: join(dir(), 'docs'),
            env: [
              { name: 'LOG', value: '1' },
              { name: 'TOKEN', value: 'from file' },
              { name: 'KEY', value: 'secret' },
            ],
          },
          runtime: undefined,
          enabled: undefined,
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
        { name: 'from-folder', description: 'Told here', instructions: 'Do this.', tools: undefined },
      ],
      roles: [
        {
          ...{ name: 'Reader', skills: ['read-documents'], readOnly: true },
          allow: [{ mcpServer: 'files', tool: '*' }],
          deny: [{ mcpServer: 'crm', tool: 'delete_x' }],
        },
      ],
      sections: new Set(['mcpServers', 'skills', 'roles']),
    });
  });

  test('declares settings, by a name alone too, and of an MCP server whose kind it does not name', () => {
    const launchesOf = (text: string) => read(write('p.yaml', text)).mcpServers.map(({ launch }) => launch.settings);
    const one = '{ title: Token, description: d, secret: false, required: false }';
    const text = `mcpServers:\n  a: { command: x, settings: { B: , A: ${one} } }\n  b: { settings: { X-Key: } }\n`;
    expect(launchesOf(text)).toEqual([
      [{ name: 'B' }, { name: 'A', title: 'Token', description: 'd', secret: false, required: false }],
      [{ name: 'X-Key' }],
    ]);
  });

  test('without content asks for nothing', () => {
    expect(read(write('p.yaml', ''))).toEqual({
      workspace: 'Default',
      sections: new Set(),
      mcpServers: [],
      skills: [],
      roles: [],
    });
  });
});

describe('a mistake is reported with its place', () => {
  const server = (fields: string) => `mcpServers:\n  a: { ${fields} }\n`;
  const long = 'x'.repeat(1025);
  const expectMistake = (text: string, message: string | RegExp) => {
    write('a.env', 'A=b\n');
    write('folder/SKILL.md', '---\nname: folder\n---\n');
    write('other/SKILL.md', '# No front matter\n');
    write('zero.md', 'a\0b');
    expect(mistakesIn(text).join('\n')).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  };

  test.each(
    Object.entries<string | RegExp>({
      'skils: []\n': '1:1 "skils" is not a field. Did you mean "skills"?',
      [server('comand: npx')]: '2:8 "mcpServers.a.comand" is not a field. Did you mean "command"?',
      [server('command: x, env: { A: { fromFile: x } }')]:
        /^2:\d+ mcpServers\.a\.env\.A must be a text, or \{ fromEnv: NAME \}\.$/,
      [server('command: [npx]')]:
        '2:17 mcpServers.a.command must be the command to run, in quotes where YAML takes it for something else.',
      [server('env: { 1X: a }')]: /^2:\d+ mcpServers\.a\.env\.1X: "1X" in "env" is not a valid name/,
      [server('command: x, url: https://a.example')]:
        '2:6 mcpServers.a: "command" and "url" exclude each other: give one of them.',
      [server('command: x, headers: { A: b }')]: '2:29 mcpServers.a.headers: "headers" belong to "url".',
      [server('url: "https://a.example", envFile: a.env')]: '2:6 mcpServers.a.env: "env" belongs to "command".',
      [server('command: x, env: { A: { fromEnv: NOTHING } }')]:
        /^2:\d+ mcpServers\.a\.env\.A: The environment variable NOTHING is not set\.$/,
      [server('command: x, args: [a, ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8]')]:
        /^2:\d+ mcpServers\.a\.args\.1: It looks like a secret\. [^8]*$/,
      [server('command: x, settings: [TOKEN]')]:
        '2:30 mcpServers.a.settings must be names, each with fields such as title.',
      [server('command: x, settings: { A: yes }')]:
        /^2:\d+ mcpServers\.a\.settings\.A must be fields such as title and required, or nothing\.$/,
      [server('command: x, settings: { A: { value: b } }')]:
        /^2:\d+ "mcpServers\.a\.settings\.A\.value" is not a field\./,
      [server('command: x, settings: { X-Key: }')]: /settings\.X-Key: "X-Key" in "env" is not a valid name/,
      [server('settings: { "a b": }')]: /settings\.a b: "a b" in "env" is not a valid name/,
      [server('url: "https://a.example", settings: { Host: }')]:
        /settings\.Host: "Host" in "headers" belongs to the conn/,
      [server('command: x, settings: { A: { title: "a\\nb" } }')]: /settings\.A: the title of "A" .* must be one line/,
      [server('command: x, envFile: no.env')]: '2:29 mcpServers.a.envFile: "no.env" cannot be read: it does not exist.',
      'skills:\n  - description: x\n': '2:5 skills.0: A skill must have a name.',
      'skills:\n  - { from: folder, instructions: folder/SKILL.md }\n':
        '2:5 skills.0: The instructions come from the folder that "from" names: leave one of them out.',
      'skills:\n  - { name: x, tools: [read] }\n':
        '2:24 skills.0.tools.0 must be MCPSERVER/TOOL, such as files/read_file or files/*.',
      'skills:\n  - { name: x, instructions: no.md }\n':
        '2:30 skills.0.instructions: "no.md" cannot be read: it does not exist.',
      'skills:\n  - { name: x, instructions: zero.md }\n':
        '2:30 skills.0.instructions: "zero.md" is not a text file: it holds a zero byte.',
      'skills:\n  - { from: no }\n': '2:13 skills.0.from: "no/SKILL.md" cannot be read: it does not exist.',
      'skills:\n  - { from: other }\n':
        '2:13 skills.0.from: "other/SKILL.md" must begin with "---", a name and a description, and "---".',
      'roles:\n  - { skills: [] }\n': '2:5 roles.0.name must be the name of the role.',
      'roles:\n  - { name: x, deny: [delete] }\n':
        '2:23 roles.0.deny.0 must be MCPSERVER/TOOL, such as files/read_file or files/*.',
      'roles:\n  - { name: x, readOnly: yes }\n': '2:26 roles.0.readOnly must be true or false.',
      'roles:\n  - { name: x, allow: ["a/*"], deny: ["a/**"] }\n':
        '2:5 roles.0: The role both allows and denies "a/*": leave one of them out.',
      '- a\n': '1:1 The file must be fields: workspace, mcpServers, skills, roles.',
      'roles: [\n': /^\d+:\d+ /,
      'skills:\n  - { name: Not A Name }\n':
        '2:13 skills.0.name: "Not A Name" is not a valid name for a skill: it must be 1 to 64 of a-z, 0-9 and single hyphens between them.',
      'roles:\n  - { name: a/b }\n': /^2:13 roles\.0\.name: "a\/b" is not a valid name for a role/,
      'mcpServers:\n  a.b: { command: x }\n': /^2:3 mcpServers\.a\.b: "a\.b" is not a valid name for an MCP server/,
      [server('command: x, runtime: "?"')]: /^2:29 mcpServers\.a\.runtime: "\?" is not a valid name for a runtime/,
      'workspace: "a:b"\n': /^1:12 workspace: "a:b" is not a valid name for a workspace/,
      'skills:\n  - { name: x, description: "a\\0b" }\n':
        /^2:29 skills\.0\.description: The description holds a zero byte/,
      [server('command: x, env: { A-B: 1 }')]:
        '2:32 mcpServers.a.env.A-B: "A-B" in "env" is not a valid name: it must be letters, digits and _, not starting with a digit.',
      [server('url: x.example')]: '2:13 mcpServers.a.url: "url" is "x.example": it must be a full URL.',
    }),
  )('%j', expectMistake);

  test.each<readonly [what: string, text: string, message: string | RegExp]>([
    [
      'a launch that is too large',
      server(`command: x, args: [${'a'.repeat(65_536)}]`),
      /^2:\d+ mcpServers\.a: the launch has \d+ bytes as JSON, and may have 65536 at most\.$/,
    ],
    [
      'a description',
      `skills:\n  - { name: x, description: ${long} }\n`,
      '2:29 skills.0.description: The description is too long: at most 1024 characters.',
    ],
    [
      'the name of a tool',
      `skills:\n  - { name: x, tools: [a/${'t'.repeat(1001)}] }\n`,
      '2:24 skills.0.tools.0 must be MCPSERVER/TOOL, such as files/read_file or files/*, with at most 1000 characters after the /.',
    ],
    [
      'the tools of a skill',
      `skills:\n  - { name: x, tools: [${Array(1001).fill('a/b').join(', ')}] }\n`,
      '2:23 skills.0.tools must be a list of tools, at most 1,000 of them.',
    ],
    [
      'the skills of a role',
      `roles:\n  - { name: x, skills: [${Array(1001).fill('a').join(', ')}] }\n`,
      '2:24 roles.0.skills must be a list of names of skills, at most 1,000 of them.',
    ],
    [
      'the rules of a role',
      `roles:\n  - { name: x, allow: [${Array.from({ length: 60 }, (_, i) => `a/${i}`)}], deny: [${Array.from({ length: 41 }, (_, i) => `b/${i}`)}] }\n`,
      '2:5 roles.0: "allow" and "deny" together have more than 100 tools.',
    ],
  ])('more than allowed: %s', (_, text, message) => expectMistake(text, message));

  test('names and descriptions of a folder', () => {
    write('s/SKILL.md', `---\nname: Not A Name\ndescription: ${long}\n---\n`);
    expect(mistakesIn('skills:\n  - { from: s }\n')).toEqual([
      expect.stringMatching(/^2:13 skills\.0\.from: "Not A Name" is not a valid name for a skill/),
      '2:13 skills.0.from: The description is too long: at most 1024 characters.',
    ]);
    expect(read(write('p.yaml', 'skills:\n  - { from: s, name: a, description: b }\n')).skills[0]).toMatchObject({
      name: 'a',
      description: 'b',
    });
  });

  test('all problems of a launch', () => {
    expect(mistakesIn(server('url: "file:///x", headers: { "a b": 1, Host: 2 }'))).toEqual([
      expect.stringContaining('"url" starts with "file:"'),
      expect.stringContaining('"a b" in "headers" is not a valid name'),
      expect.stringContaining('"Host" in "headers" belongs to the connection'),
    ]);
  });

  test('of any field, besides all others', () => {
    const mistakes = mistakesIn(`mcpServers:
  c: { comand: x }
  a.b: { command: x }
  d: { command: x, env: { A: { fromEnv: NOTHING } } }
skills:
  - { name: Not A Name, tools: [read] }
  - { name: b, from: no }
roles: [{ name: x, skils: [] }]
skils: []
`);
    expect(mistakes.map((mistake) => mistake.replace(/:\d+/, '').slice(0, 40)).sort()).toEqual([
      '2 "mcpServers.c.comand" is not a field. ',
      '3 mcpServers.a.b: "a.b" is not a valid n',
      '4 mcpServers.d.env.A: The environment va',
      '6 skills.0.name: "Not A Name" is not a v',
      '6 skills.0.tools.0 must be MCPSERVER/TOO',
      '7 skills.1.from: "no/SKILL.md" cannot be',
      '8 "roles.0.skils" is not a field. Did yo',
      '9 "skils" is not a field. Did you mean "',
    ]);
  });

  test('a secret is not repeated', () => {
    const mistakes = mistakesIn(server('command: x, url: y, env: { A: { fromEnv: K } }'), { K: 'hush' }).join();
    expect(mistakes).toContain('exclude each other');
    expect(mistakes).not.toContain('hush');
  });
});

describe('several files', () => {
  test('are merged, workspace by workspace', () => {
    const files = [
      write('a.yaml', 'roles:\n  - { name: A }\n'),
      write('b.yaml', 'roles:\n  - { name: B }\n'),
      write('c.yaml', 'workspace: Other\nroles:\n  - { name: A }\n'),
    ];
    const merged = mergeFiles(files.map((file) => read(file)));
    expect(merged.map(({ workspace, roles }) => [workspace, roles.map(({ name }) => name)])).toEqual([
      ['Default', ['A', 'B']],
      ['Other', ['A']],
    ]);
  });

  test('may not define the same thing twice, be it with other spaces', () => {
    const spaced = write('c.yaml', 'mcpServers:\n  files: { command: a }\n  "files ": { command: b }\n');
    const files = [
      write('a.yaml', 'roles:\n  - { name: A }\n'),
      write('b.yaml', '\nroles:\n  - { name: A }\n'),
      spaced,
    ];
    const duplicates = mergeFiles(files.map((file) => read(file))).flatMap(findDuplicates);
    expect(() => refuseMistakes(duplicates)).toThrow(
      [
        `${spaced}:3:3 The MCP server "files" is defined already, at ${spaced}:2.`,
        `${files[1]}:3:5 The role "A" is defined already, at ${files[0]}:2.`,
      ].join('\n'),
    );
  });
});
