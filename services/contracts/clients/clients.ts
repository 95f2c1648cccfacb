import { isLocalHost } from '../local-host.ts';

/**
 * The agents that people connect, and what is known of their configuration files. The page and the command line show
 * snippets of this table, and `svc server import` reads the same files.
 */

export const clientNames = [
  ...(['claude-code', 'claude-desktop', 'cursor', 'vscode', 'windsurf', 'codex'] as const),
  ...(['inspector', 'curl', 'json'] as const),
];
export type ClientName = (typeof clientNames)[number];

/** A client with a configuration file of its own. */
export interface ConfiguredClient {
  readonly kind: 'file';
  readonly name: ClientName;
  readonly title: string;
  /** `json` allows comments and trailing commas, as the editors do. */
  readonly format: 'json' | 'toml';
  /** The member of the file that holds the MCP servers by name. */
  readonly member: 'mcpServers' | 'servers' | 'mcp_servers';
  /** Its usual file first. */
  readonly files: readonly ClientFile[];
  /** How its file names a variable or an input with the key; null when the file must hold the key itself. */
  readonly keyFrom: 'variable' | 'input' | null;
  /** Its entry for a server. */
  readonly entry: (connection: Connection) => Entry;
}

/** A client that is connected by a command, or by a file that is not known here. */
export interface TypedClient {
  readonly kind: 'text';
  readonly name: ClientName;
  readonly title: string;
  /** What its text is. */
  readonly about: string;
  readonly text: (connection: Connection) => string;
}

export type Client = ConfiguredClient | TypedClient;

export interface ClientFile {
  /** A project's file is for the folder that the client was opened in. */
  readonly scope: 'user' | 'project';
  /** False: the client itself rewrites the file while it runs, so that another writer would lose changes. */
  readonly takesChanges: boolean;
  readonly path: (place: Place) => string;
}

/** Where the files of clients are looked for. */
export interface Place {
  readonly home: string;
  /** Folder of the project. */
  readonly project: string;
  readonly isMac: boolean;
  /** CODEX_HOME and XDG_CONFIG_HOME move files. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One connection of an agent with the platform. */
export interface Connection {
  /** The name under which the client lists the platform. */
  readonly name: string;
  readonly url: string;
  /** The key or its placeholder; null when the client reads the key from its variable or input. */
  readonly key: string | null;
}

export type Entry = Readonly<Record<string, string | readonly string[] | Readonly<Record<string, string>>>>;

/** In place of a key that a person puts in. */
export const keyPlaceholder = 'SVA_…';
/** The variable with the key, which `svc keys test` reads too. */
export const keyVariable = 'SVC_API_KEY';
export const defaultServerName = 'platform';

/** Id of the input of VS Code that asks for the key once and keeps it. */
export function inputIdOf(name: string): string {
  return `${name}-key`;
}

const user = (path: ClientFile['path'], takesChanges = true): ClientFile => ({ scope: 'user', takesChanges, path });
const project = (path: string): ClientFile => ({
  scope: 'project',
  takesChanges: true,
  path: (place) => `${place.project}/${path}`,
});

function applicationFolder({ home, isMac, env }: Place): string {
  return isMac ? `${home}/Library/Application Support` : env.XDG_CONFIG_HOME || `${home}/.config`;
}

function bearer(key: string | null, variable: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${key ?? variable}` };
}

const table: Readonly<Record<ClientName, Client>> = {
  'claude-code': {
    kind: 'file',
    name: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    member: 'mcpServers',
    files: [project('.mcp.json'), user(({ home }) => `${home}/.claude.json`, false)],
    keyFrom: 'variable',
    entry: ({ url, key }) => ({ type: 'http', url, headers: bearer(key, `\${${keyVariable}}`) }),
  },
  'claude-desktop': {
    kind: 'file',
    name: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    member: 'mcpServers',
    files: [user((place) => `${applicationFolder(place)}/Claude/claude_desktop_config.json`)],
    keyFrom: null,
    // Its file has no addresses, so a bridge runs as a command. The header is without a space: some shells split it.
    entry: ({ url, key }) => ({
      command: 'npx',
      args: [
        ...['-y', 'mcp-remote', url, '--header', `Authorization:\${AUTHORIZATION}`],
        ...(needsPermission(url) ? ['--allow-http'] : []),
      ],
      env: { AUTHORIZATION: `Bearer ${key ?? keyPlaceholder}` },
    }),
  },
  cursor: {
    kind: 'file',
    name: 'cursor',
    title: 'Cursor',
    format: 'json',
    member: 'mcpServers',
    files: [user(({ home }) => `${home}/.cursor/mcp.json`), project('.cursor/mcp.json')],
    keyFrom: 'variable',
    entry: ({ url, key }) => ({ url, headers: bearer(key, `\${env:${keyVariable}}`) }),
  },
  vscode: {
    kind: 'file',
    name: 'vscode',
    title: 'VS Code',
    format: 'json',
    member: 'servers',
    files: [user((place) => `${applicationFolder(place)}/Code/User/mcp.json`), project('.vscode/mcp.json')],
    keyFrom: 'input',
    entry: ({ name, url, key }) => ({ type: 'http', url, headers: bearer(key, `\${input:${inputIdOf(name)}}`) }),
  },
  windsurf: {
    kind: 'file',
    name: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    member: 'mcpServers',
    files: [user(({ home }) => `${home}/.codeium/windsurf/mcp_config.json`)],
    keyFrom: 'variable',
    entry: ({ url, key }) => ({ serverUrl: url, headers: bearer(key, `\${env:${keyVariable}}`) }),
  },
  codex: {
    kind: 'file',
    name: 'codex',
    title: 'Codex',
    format: 'toml',
    member: 'mcp_servers',
    files: [
      user(({ home, env }) => `${env.CODEX_HOME || `${home}/.codex`}/config.toml`),
      project('.codex/config.toml'),
    ],
    keyFrom: 'variable',
    // Codex refuses a token in the file, but takes it as a header.
    entry: ({ url, key }) =>
      key === null ? { url, bearer_token_env_var: keyVariable } : { url, http_headers: bearer(key, '') },
  },
  inspector: {
    kind: 'text',
    name: 'inspector',
    title: 'Inspector',
    about: 'In a terminal: lists the tools',
    text: ({ url, key }) =>
      [
        `npx @modelcontextprotocol/inspector --cli ${quoted(url)} --transport http \\`,
        `  --method tools/list --header "Authorization: Bearer ${key ?? `$${keyVariable}`}"`,
      ].join('\n'),
  },
  curl: {
    kind: 'text',
    name: 'curl',
    title: 'curl',
    about: 'A ping: any answer but 401 means that the key is valid',
    text: ({ url, key }) =>
      [
        `curl ${quoted(url)} \\`,
        `  -H "Authorization: Bearer ${key ?? `$${keyVariable}`}" \\`,
        '  -H "Accept: application/json, text/event-stream" \\',
        '  -H "Content-Type: application/json" \\',
        `  -d '{"jsonrpc":"2.0","id":1,"method":"ping"}'`,
      ].join('\n'),
  },
  json: {
    kind: 'text',
    name: 'json',
    title: 'JSON',
    about: 'Most other clients',
    text: ({ name, url, key }) => {
      const entry = { type: 'http', url, headers: bearer(key ?? keyPlaceholder, '') };
      return JSON.stringify({ mcpServers: { [name]: entry } }, null, 2);
    },
  },
};

export function clientOf(name: ClientName): Client {
  return table[name];
}

export const clients: readonly Client[] = clientNames.map((name) => table[name]);

/** mcp-remote takes plain HTTP only from this machine, unless it is told otherwise. */
function needsPermission(text: string): boolean {
  const url = new URL(text);
  return url.protocol === 'http:' && !isLocalHost(url);
}

/** An address with a query holds signs of a shell. */
function quoted(url: string): string {
  return /^[\w.:@/=,+-]+$/.test(url) ? url : `'${url.replaceAll("'", '%27')}'`;
}
