import { describe, expect, test } from 'vitest';
import { readTypedLaunch } from './typed-launch.ts';

describe('a command', () => {
  test.each([
    ['npx -y @modelcontextprotocol/server-memory', ['npx', '-y', '@modelcontextprotocol/server-memory'], 'memory'],
    ['  uvx mcp-server-git@2025.1  ', ['uvx', 'mcp-server-git@2025.1'], 'git'],
    ['node server.js', ['node', 'server.js'], 'server'],
    [`run "two words" 'and "these"' a\\ b ""`, ['run', 'two words', 'and "these"', 'a b', ''], 'two-words'],
    ['run "a \\"quote\\" \\n"', ['run', 'a "quote" \\n'], 'a-quote-n'],
  ])('%s', (text, [command, ...args], suggestedName) => {
    expect(readTypedLaunch(text)).toEqual({ kind: 'command', launch: { command, args }, suggestedName });
  });

  test.each(['run "open', "run 'open", 'run a\\'])('with an open quotation is refused: %s', (text) => {
    expect(readTypedLaunch(text).kind).toBe('wrong');
  });

  test('of the largest size takes no time', () => {
    const started = performance.now();
    readTypedLaunch(`run ${'\\" '.repeat(20_000)}`);
    readTypedLaunch(`run "${'a\\"'.repeat(20_000)}`);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

test('an address', () => {
  expect(readTypedLaunch('https://mcp.example.com/mcp')).toEqual({
    kind: 'url',
    launch: { url: 'https://mcp.example.com/mcp' },
    suggestedName: 'example',
  });
  expect(readTypedLaunch('https://').kind).toBe('wrong');
});

describe('a block of JSON', () => {
  const entry = { command: 'npx', args: ['-y', 'a'], env: { TOKEN: 'x' } };

  test.each([
    ['as documentation shows it', JSON.stringify({ mcpServers: { files: entry } })],
    ['without the outer member', JSON.stringify({ files: entry })],
    ['without braces', `"files": ${JSON.stringify(entry)},`],
  ])('%s', (_form, text) => {
    const typed = readTypedLaunch(text);
    expect(typed).toMatchObject({
      kind: 'block',
      servers: [{ name: 'files', launch: { command: 'npx', args: ['-y', 'a'], env: [{ name: 'TOKEN', value: 'x' }] } }],
    });
  });

  test.each([
    ['half of it', '{ "mcpServers": {', 'is not JSON'],
    ['nothing in it', '{ "mcpServers": {} }', 'names no MCP server'],
    ['a wrong name', JSON.stringify({ mcpServers: { 'a b': entry } }), '"a b" is not a valid name'],
    ['a wrong entry', JSON.stringify({ mcpServers: { a: { command: 1 } } }), '"command" must be a text'],
    [
      'a reference',
      JSON.stringify({ mcpServers: { a: { ...entry, env: { A: `\${env:TOKEN}` } } } }),
      'refers to values that this page cannot know: TOKEN',
    ],
  ])('with %s is refused', (_what, text, problem) => {
    const typed = readTypedLaunch(text);
    expect(typed.kind === 'wrong' ? typed.problem : typed).toContain(problem);
  });
});

test('an empty text is no mistake', () => {
  expect(readTypedLaunch('  \n')).toEqual({ kind: 'empty' });
});
