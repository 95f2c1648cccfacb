import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { clientNames, clientOf, clients, type Place } from './clients.ts';
import { snippetsFor, textOf, withPreloading } from './snippet.ts';

const url = 'https://tools.example.com/mcp';
const withVariable = { name: 'platform', url, key: null };
const read = (name: (typeof clientNames)[number], key: string | null = null): unknown => {
  const client = clientOf(name);
  const text = textOf(client, { ...withVariable, key });
  return client.kind === 'file' && client.format === 'toml' ? parse(text) : JSON.parse(text);
};

test('the files of clients that read the key from a variable name the variable', () => {
  const headers = (variable: string) => ({ Authorization: `Bearer ${variable}` });
  expect(read('claude-code')).toEqual({
    mcpServers: { platform: { type: 'http', url, headers: headers(`\${SVC_API_KEY}`) } },
  });
  expect(read('cursor')).toEqual({ mcpServers: { platform: { url, headers: headers(`\${env:SVC_API_KEY}`) } } });
  expect(read('windsurf')).toEqual({
    mcpServers: { platform: { serverUrl: url, headers: headers(`\${env:SVC_API_KEY}`) } },
  });
  expect(read('codex')).toEqual({ mcp_servers: { platform: { url, bearer_token_env_var: 'SVC_API_KEY' } } });
});

test('VS Code asks for the key once, by an input', () => {
  expect(read('vscode')).toEqual({
    inputs: [{ type: 'promptString', id: 'platform-key', description: 'API key of platform', password: true }],
    servers: { platform: { type: 'http', url, headers: { Authorization: `Bearer \${input:platform-key}` } } },
  });
  expect(read('vscode', 'SVA_key')).toEqual({
    servers: { platform: { type: 'http', url, headers: { Authorization: 'Bearer SVA_key' } } },
  });
});

test('Claude Desktop runs mcp-remote, with the key as a variable of the command and not as an argument', () => {
  expect(read('claude-desktop', 'SVA_key')).toEqual({
    mcpServers: {
      platform: {
        command: 'npx',
        args: ['-y', 'mcp-remote', url, '--header', `Authorization:\${AUTHORIZATION}`],
        env: { AUTHORIZATION: 'Bearer SVA_key' },
      },
    },
  });
  const text = (address: string) => textOf(clientOf('claude-desktop'), { ...withVariable, url: address });
  expect(text('http://tools.example.com/mcp')).toContain('--allow-http');
  expect(text('http://localhost:3001/mcp')).not.toContain('--allow-http');
});

test('Codex takes a key as a header only', () => {
  expect(read('codex', 'SVA_key')).toEqual({
    mcp_servers: { platform: { url, http_headers: { Authorization: 'Bearer SVA_key' } } },
  });
});

test('a query survives a shell and TOML', () => {
  const preloading = withPreloading(url, { roles: ['rol_1', 'Read only'], skills: ['skl_1'] });
  expect(preloading).toBe(`${url}?roleIds=rol_1,Read%20only&skillIds=skl_1`);
  expect(textOf(clientOf('curl'), { ...withVariable, url: preloading })).toContain(`curl '${preloading}'`);
  expect(parse(textOf(clientOf('codex'), { ...withVariable, url: preloading }))).toMatchObject({
    mcp_servers: { platform: { url: preloading } },
  });
  expect(withPreloading(url, { roles: [], skills: [] })).toBe(url);
});

test('every client has a snippet without a key, and every file client a file on both systems', () => {
  expect(snippetsFor(url)).toHaveLength(clientNames.length);
  const place: Place = { home: '/h', project: '/p', isMac: false, env: {} };
  const files = clients.flatMap((client) =>
    client.kind === 'file' ? [[client.name, ...client.files.map((file) => file.path(place))]] : [],
  );
  expect(files).toEqual([
    ['claude-code', '/p/.mcp.json', '/h/.claude.json'],
    ['claude-desktop', '/h/.config/Claude/claude_desktop_config.json'],
    ['cursor', '/h/.cursor/mcp.json', '/p/.cursor/mcp.json'],
    ['vscode', '/h/.config/Code/User/mcp.json', '/p/.vscode/mcp.json'],
    ['windsurf', '/h/.codeium/windsurf/mcp_config.json'],
    ['codex', '/h/.codex/config.toml', '/p/.codex/config.toml'],
  ]);
  const onMac = clients.flatMap((client) =>
    client.kind === 'file' ? client.files.map((file) => file.path({ ...place, isMac: true })) : [],
  );
  expect(onMac).toContain('/h/Library/Application Support/Claude/claude_desktop_config.json');
  expect(onMac).toContain('/h/Library/Application Support/Code/User/mcp.json');
  const codex = clientOf('codex');
  expect(codex.kind === 'file' && codex.files[0]?.path({ ...place, env: { CODEX_HOME: '/c' } })).toBe('/c/config.toml');
});
