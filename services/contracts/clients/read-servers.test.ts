import { describe, expect, test } from 'vitest';
import { expandLaunch, type Known, type ListedServer, readServers } from './read-servers.ts';

const project = '/p';
const one = (entry: unknown): ListedServer =>
  readServers({ mcpServers: { x: entry } }, project)?.servers[0] ?? expect.fail('there is one');

describe('the forms of agents', () => {
  test('a command, with all its fields', () => {
    expect(
      one({ type: 'stdio', command: 'npx', args: ['-y', 'files'], cwd: './docs', env: { A: 'a', N: 1, B: true } }),
    ).toEqual({
      name: 'x',
      disabled: false,
      ignored: [],
      entry: {
        kind: 'command',
        command: 'npx',
        args: ['-y', 'files'],
        cwd: './docs',
        env: [
          { name: 'A', value: 'a' },
          { name: 'N', value: '1' },
          { name: 'B', value: 'true' },
        ],
      },
    });
  });

  test.each(['url', 'serverUrl', 'httpUrl'])('an address in "%s"', (field) => {
    expect(one({ [field]: 'https://a.example/mcp', headers: { 'X-Key': 'k' } }).entry).toEqual({
      kind: 'url',
      url: 'https://a.example/mcp',
      headers: [{ name: 'X-Key', value: 'k' }],
    });
  });

  test("VS Code's servers, with the inputs that it asks for", () => {
    const read = readServers(
      { inputs: [{ id: 'key', description: 'The key', type: 'promptString' }, 1], servers: { a: { url: 'u' } } },
      project,
    );
    expect([read?.servers.map(({ name }) => name), [...(read?.inputs ?? [])]]).toEqual([['a'], [['key', 'The key']]]);
  });

  test("Codex's tables, whose variables are names", () => {
    const read = readServers(
      {
        model: 'x',
        mcp_servers: {
          a: { url: 'u', bearer_token_env_var: 'TOKEN', env_http_headers: { 'X-Key': 'KEY' }, enabled: false },
          b: { command: 'c', env_vars: ['HOME'], startup_timeout_sec: 20 },
        },
      },
      project,
    );
    expect(read?.servers).toMatchObject([
      {
        disabled: true,
        entry: {
          headers: [
            { name: 'X-Key', value: `\${env:KEY}` },
            { name: 'Authorization', value: `Bearer \${env:TOKEN}` },
          ],
        },
      },
      { ignored: ['startup_timeout_sec'], entry: { env: [{ name: 'HOME', value: `\${env:HOME}` }] } },
    ]);
  });

  test("Claude Code's own file: the project's entries come before the user's, and other projects do not count", () => {
    const file = {
      mcpServers: { a: { command: 'user' }, b: { command: 'b' } },
      projects: {
        '/p': { mcpServers: { a: { command: 'project' } } },
        '/other': { mcpServers: { c: { command: 'c' } } },
      },
    };
    const read = readServers(file, project)?.servers.map(({ name, entry }) => [
      name,
      entry.kind === 'command' && entry.command,
    ]);
    expect(read).toEqual([
      ['a', 'project'],
      ['b', 'b'],
    ]);
  });

  test.each([[null], [[]], ['x'], [{}], [{ mcpServers: [] }], [{ servers: 1 }]])('%j is another form', (document) => {
    expect(readServers(document, project)).toBeNull();
  });

  test.each([
    [1, 'its entry is not an object'],
    [{}, 'neither "command" nor "url"'],
    [{ command: 1 }, '"command" must be a text'],
    [{ command: 'a', args: 'b' }, '"args" must be a list'],
    [{ command: 'a', env: { A: {} } }, '"env" must be an object of texts'],
    [{ command: 'a', env: [] }, '"env" must be an object of texts'],
    [{ url: 'u', headers: { A: [] } }, 'headers must be objects'],
    [{ type: 'carrier-pigeon', url: 'u' }, 'unknown'],
    [{ type: 'http', command: 'a' }, 'neither "command" nor "url"'],
  ])('the entry %j has a problem', (entry, problem) => {
    expect(one(entry).entry).toEqual({ kind: 'unreadable', problem: expect.stringContaining(problem) });
  });

  test('unknown fields are named', () => {
    expect(one({ command: 'a', alwaysAllow: [], timeout: 1, headers: {} }).ignored).toEqual([
      'alwaysAllow',
      'timeout',
      'headers',
    ]);
  });

  test('names such as __proto__ are names', () => {
    const document: unknown = JSON.parse(
      '{"mcpServers": {"__proto__": {"command": "a"}, "constructor": {"type": "toString", "url": "u"}}}',
    );
    expect(readServers(document, '__proto__')?.servers.map(({ name, entry }) => [name, entry.kind])).toEqual([
      ['__proto__', 'command'],
      ['constructor', 'unreadable'],
    ]);
  });
});

describe('references', () => {
  const known: Known = {
    find: ({ kind, name }) =>
      new Map([
        ['variable A', 'a'],
        ['input key', 'k'],
      ]).get(`${kind} ${name}`),
    folders: { workspaceFolder: '/p', userHome: '/h' },
  };
  const expand = (text: string) =>
    expandLaunch({ kind: 'command', command: text, args: [text], cwd: null, env: [{ name: 'E', value: text }] }, known);

  test.each([
    [`\${A}`, 'a'],
    [`x\${env:A}y\${A}`, 'xaya'],
    [`\${A:-b}\${B:-b}\${B:-}`, 'ab'],
    [`\${input:key}`, 'k'],
    [`\${workspaceFolder}/docs`, '/p/docs'],
    [`\${userHome}`, '/h'],
    ['$A and $(A)', '$A and $(A)'],
  ])('%s is %s', (text, value) => {
    expect(expand(text)).toEqual({
      launch: { command: value, args: [value], cwd: null, env: [{ name: 'E', value, secret: text !== value }] },
      missing: [],
    });
  });

  test('a plain value of the file stays plain, and everything else is a secret', () => {
    const env = [
      ...[
        { name: 'LEVEL', value: 'high' },
        { name: 'API_TOKEN', value: 'hunter2' },
      ],
      ...[
        { name: 'MODE', value: `\${A}` },
        { name: 'URL', value: 'postgres://me:hunter2@db.example/app' },
      ],
    ];
    const { launch } = expandLaunch({ kind: 'command', command: 'x', args: [], cwd: null, env }, known);
    expect(launch.env?.map(({ name, secret }) => [name, secret])).toEqual([
      ...[
        ['LEVEL', false],
        ['API_TOKEN', true],
      ],
      ...[
        ['MODE', true],
        ['URL', true],
      ],
    ]);
    const headers = [{ name: 'X-Mode', value: 'plain' }];
    expect(expandLaunch({ kind: 'url', url: 'u', headers }, known).launch.headers).toMatchObject([{ secret: true }]);
  });

  test('a value is not expanded again, and what has no value is named once', () => {
    const { missing } = expand(`\${NO} \${env:NO} \${input:no}`);
    expect(missing).toEqual([
      { kind: 'variable', name: 'NO' },
      { kind: 'input', name: 'no' },
    ]);
    const twice: Known = { ...known, find: () => `\${A}` };
    const url = { kind: 'url', url: `\${X}`, headers: [] } as const;
    expect(expandLaunch(url, twice)).toEqual({ launch: { url: `\${A}`, headers: [] }, missing: [] });
  });
});
