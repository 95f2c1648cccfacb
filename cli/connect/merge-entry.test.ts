import { expect, test } from 'vitest';
import { type ClientName, type Connection, clientOf } from '../../services/contracts/clients/clients.ts';
import { mergeEntry } from './merge-entry.ts';

const url = 'https://tools.example.com/mcp';

function merge(name: ClientName, text: string, connection: Partial<Connection> = {}): string {
  const client = clientOf(name);
  if (client.kind === 'text') return expect.fail(`${name} has no file`);
  return mergeEntry(text, {
    client,
    connection: { name: 'platform', url, key: null, ...connection },
    file: 'the file',
  });
}

const jsonc = `// My servers
{
\t/* the first */
\t"servers": {
\t\t"files": { "command": "npx", "args": ["-y", "files"] }, // keep
\t},
\t"inputs": [
\t\t{ "type": "promptString", "id": "other", "description": "x" },
\t],
}
`;

const toml = `# Codex
model = "o9" # the best

[mcp_servers.files]
command = "npx"
args = [
  "-y",   # yes
  "files",
]

[mcp_servers.files.env]
TOKEN = 'x'

[profiles.fast]
model = "small"
`;

test('an empty file, a file without servers and a missing file get the entry', () => {
  for (const text of ['', '{}', '{ "mcpServers": {} }']) {
    expect(JSON.parse(merge('claude-code', text))).toEqual({
      mcpServers: { platform: { type: 'http', url, headers: { Authorization: `Bearer \${SVC_API_KEY}` } } },
    });
  }
  expect(merge('codex', '')).toBe(`[mcp_servers.platform]\nurl = "${url}"\nbearer_token_env_var = "SVC_API_KEY"\n`);
});

test('comments, trailing commas and tabs of VS Code survive', () => {
  const merged = merge('vscode', jsonc);
  for (const line of jsonc.split('\n')) expect(merged).toContain(line);
  expect(merged).toContain(`\n\t\t"platform": {\n\t\t\t"type": "http"`);
  expect(merged).toContain('"id": "platform-key"');
  expect(merge('vscode', merged)).toBe(merged);
});

test('every line of a TOML file survives, and the table is appended', () => {
  const merged = merge('codex', toml);
  expect(merged).toBe(`${toml}\n[mcp_servers.platform]\nurl = "${url}"\nbearer_token_env_var = "SVC_API_KEY"\n`);
  expect(merge('codex', merged)).toBe(merged);
});

test('a present table of TOML is changed in its place, and the own fields of a person stay', () => {
  const before = `${toml}\n[mcp_servers."platform"] # mine\nurl = "https://old.example.com/mcp"\nstartup_timeout_sec = 20\nhttp_headers = { Authorization = "Bearer SVA_old" }\n\n[tui]\ntheme = "dark"\n`;
  const merged = merge('codex', before);
  expect(merged).toContain(
    `[mcp_servers."platform"] # mine\nbearer_token_env_var = "SVC_API_KEY"\nurl = "${url}"\nstartup_timeout_sec = 20\n\n[tui]`,
  );
  expect(merged).not.toContain('SVA_old');
  expect(merge('codex', merged)).toBe(merged);
});

test('a changed address and the own fields of a person in JSON', () => {
  const before =
    '{"mcpServers": {"platform": {"url": "https://old.example.com", "headers": {"X-Own": "1"}, "alwaysAllow": ["x"]}}}';
  expect(JSON.parse(merge('cursor', before))).toEqual({
    mcpServers: {
      platform: { url, headers: { 'X-Own': '1', Authorization: `Bearer \${env:SVC_API_KEY}` }, alwaysAllow: ['x'] },
    },
  });
});

test('line ends of Windows and a byte order mark survive', () => {
  for (const [name, text] of [
    ['cursor', '\ufeff{\r\n    "mcpServers": {\r\n        "a": { "url": "https://a.example" }\r\n    }\r\n}\r\n'],
    ['codex', 'model = "x"\r\n'],
  ] as const) {
    const merged = merge(name, text);
    expect(merged.replaceAll('\r\n', '')).not.toContain('\n');
    expect(merged.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
    expect(merge(name, merged)).toBe(merged);
  }
});

test.each([
  ['claude-code', '{\n  "mcpServers": {\n    "a": \n}', /"the file" cannot be read: line 4, column 1: value expected/],
  ['codex', 'model = "x"\n[mcp_servers\n', /"the file" cannot be read: line 2, column \d+: /],
  ['claude-code', '['.repeat(500_000), /"the file" cannot be read: it is nested too deeply/],
  ['claude-code', '[]', /has another form: it must hold an object/],
  ['claude-code', '{"mcpServers": []}', /has another form: "mcpServers" must be an object/],
  ['claude-code', '{"mcpServers": {"platform": 1}}', /"mcpServers.platform" must be an object/],
  ['claude-code', '{"mcpServers": {"platform": {"command": "npx"}}}', /has a command, so it is another MCP server/],
  ['codex', 'mcp_servers = { files = { command = "npx" } }\n', /in a form that cannot be changed safely/],
  ['codex', '[mcp_servers]\nplatform = { url = "https://old.example" }\n', /in a form that cannot be changed safely/],
  ['codex', 'x = """\n[mcp_servers.platform]\n"""\n[mcp_servers.platform]\nurl = "y"\n', /cannot be changed safely/],
] as const)('%s refuses %.60j', (name, text, message) => {
  expect(() => merge(name, text)).toThrow(message);
});

test('the message about a broken file does not repeat its text', () => {
  expect(() => merge('codex', 'token = "hunter2" oops\n')).toThrow(/^(?!.*hunter2)/s);
});
