import { isObject } from '../is-object.ts';
import type { LaunchInput } from '../launch.ts';
import { looksSecret } from '../secret-words.ts';

/** A variable or a header with its value, which may hold references. */
interface GivenSetting {
  readonly name: string;
  readonly value: string;
}

/** An MCP server in the configuration file of an agent. Its texts may hold references such as `${VAR}`. */
export interface ListedServer {
  readonly name: string;
  /** The agent does not start it. */
  readonly disabled: boolean;
  readonly entry: ListedLaunch;
  /** Fields that mean nothing here. */
  readonly ignored: readonly string[];
}

export type ListedLaunch =
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string | null;
      readonly env: readonly GivenSetting[];
    }
  | { readonly kind: 'url'; readonly url: string; readonly headers: readonly GivenSetting[] }
  | { readonly kind: 'unreadable'; readonly problem: string };

export interface ServersOfFile {
  readonly servers: readonly ListedServer[];
  /** Inputs of VS Code, by id: what the agent asks for. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** The members that hold MCP servers: most agents, VS Code, Codex. */
const members = ['mcpServers', 'servers', 'mcp_servers'] as const;

export const expectedForm =
  'an object with "mcpServers" (most agents), "servers" (VS Code) or [mcp_servers.NAME] tables (Codex)';

/** The MCP servers of a parsed file. `project`: the folder whose own entries count in ~/.claude.json. Null: another form. */
export function readServers(document: unknown, project: string): ServersOfFile | null {
  if (!isObject(document)) return null;
  const projects = isObject(document.projects) ? document.projects : {};
  const ofProject = Object.hasOwn(projects, project) ? projects[project] : undefined;
  const holders = [ofProject, document].filter(isObject);
  const lists = holders.flatMap((holder) =>
    members.flatMap((member) => (isObject(holder[member]) ? [holder[member]] : [])),
  );
  if (lists.length === 0) return null;
  // An entry of the project hides one of the user.
  const byName = new Map(lists.reverse().flatMap((list) => Object.entries(list)));
  return { servers: [...byName].map(([name, entry]) => readServer(name, entry)), inputs: readInputs(document.inputs) };
}

function readInputs(inputs: unknown): ReadonlyMap<string, string> {
  if (!Array.isArray(inputs)) return new Map();
  return new Map(
    inputs
      .filter(isObject)
      .flatMap(({ id, description }) =>
        typeof id === 'string' ? [[id, typeof description === 'string' ? description : id] as const] : [],
      ),
  );
}

const kinds: Readonly<Record<string, 'command' | 'url'>> = {
  stdio: 'command',
  http: 'url',
  sse: 'url',
  'streamable-http': 'url',
  streamablehttp: 'url',
};

const known = {
  both: ['type', 'transport', 'disabled', 'enabled'],
  command: ['command', 'args', 'cwd', 'env', 'env_vars'],
  url: ['url', 'serverUrl', 'httpUrl', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'],
} as const;

function readServer(name: string, entry: unknown): ListedServer {
  if (!isObject(entry)) return unreadable(name, 'its entry is not an object');
  const disabled = entry.disabled === true || entry.enabled === false;
  const transport = entry.type ?? entry.transport;
  const told = typeof transport === 'string' ? transport.toLowerCase() : null;
  if (told !== null && !Object.hasOwn(kinds, told)) {
    return { ...unreadable(name, `its transport "${told.slice(0, 40)}" is unknown`), disabled };
  }
  const kind = (told === null ? undefined : kinds[told]) ?? ('command' in entry ? 'command' : 'url');
  const own: readonly string[] = [...known.both, ...known[kind]];
  const ignored = Object.keys(entry).filter((field) => !own.includes(field));
  return { name, disabled, ignored, entry: kind === 'command' ? readCommand(entry) : readUrl(entry) };
}

function unreadable(name: string, problem: string): ListedServer {
  return { name, disabled: false, ignored: [], entry: { kind: 'unreadable', problem } };
}

type Fields = Readonly<Record<string, unknown>>;

function readCommand({ command, args = [], cwd = null, env = {}, env_vars: forwarded = [] }: Fields): ListedLaunch {
  if (typeof command !== 'string' || command.trim() === '') return wrong('"command" must be a text');
  if (!isTexts(args)) return wrong('"args" must be a list of texts');
  if (cwd !== null && typeof cwd !== 'string') return wrong('"cwd" must be a text');
  if (!isTexts(forwarded)) return wrong('"env_vars" must be a list of names');
  const settings = readSettings(env);
  if (settings === null) return wrong('"env" must be an object of texts');
  return {
    kind: 'command',
    command,
    args,
    cwd,
    env: [...settings, ...forwarded.map((name) => fromVariable(name, name))],
  };
}

function readUrl(fields: Fields): ListedLaunch {
  const url = fields.url ?? fields.serverUrl ?? fields.httpUrl;
  if (typeof url !== 'string') return wrong('it has neither "command" nor "url"');
  const headers = readSettings({ ...objectOf(fields.headers), ...objectOf(fields.http_headers) });
  const named = readSettings(fields.env_http_headers ?? {});
  const bearer = fields.bearer_token_env_var;
  if (headers === null || named === null) return wrong('its headers must be objects of texts');
  if (bearer !== undefined && typeof bearer !== 'string') return wrong('"bearer_token_env_var" must be a name');
  return {
    kind: 'url',
    url,
    headers: [
      ...headers,
      ...named.map(({ name, value }) => fromVariable(name, value)),
      ...(bearer === undefined ? [] : [{ name: 'Authorization', value: `Bearer \${env:${bearer}}` }]),
    ],
  };
}

function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function fromVariable(name: string, variable: string): GivenSetting {
  return { name, value: `\${env:${variable}}` };
}

function wrong(problem: string): ListedLaunch {
  return { kind: 'unreadable', problem };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Null: not an object of texts. Agents take numbers and yes or no for texts too. */
function readSettings(value: unknown): readonly GivenSetting[] | null {
  if (!isObject(value)) return null;
  const settings = Object.entries(value).map(([name, one]) =>
    ['string', 'number', 'boolean'].includes(typeof one) ? { name, value: String(one) } : null,
  );
  return settings.every((setting) => setting !== null) ? settings : null;
}

/** `${VAR}` and `${VAR:-default}` of Claude Code, `${env:VAR}` and `${input:ID}` of editors, and folders. */
const referenceForm = /\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^}]*))?\}/g;

export interface Reference {
  readonly kind: 'variable' | 'input';
  readonly name: string;
}

/** The references of some texts. */
export function referencesIn(texts: readonly string[]): readonly Reference[] {
  return texts.flatMap((text) =>
    [...text.matchAll(referenceForm)].map(([, prefix, name = '']): Reference => {
      return { kind: prefix === 'input' ? 'input' : 'variable', name };
    }),
  );
}

export interface Known {
  readonly find: (reference: Reference) => string | undefined;
  /** `workspaceFolder` and `userHome`. */
  readonly folders: Readonly<Record<string, string>>;
}

export interface Expanded {
  readonly launch: LaunchInput;
  /** What has no value. The launch is incomplete then. */
  readonly missing: readonly Reference[];
}

/** The launch with the values of its references. */
export function expandLaunch(entry: Exclude<ListedLaunch, { kind: 'unreadable' }>, { find, folders }: Known): Expanded {
  const missing = new Map<string, Reference>();
  const expand = (text: string) =>
    text.replace(referenceForm, (whole, prefix: string | undefined, name: string, fallback: string | undefined) => {
      if (prefix === undefined && Object.hasOwn(folders, name)) return folders[name] ?? whole;
      const wanted: Reference = { kind: prefix === 'input' ? 'input' : 'variable', name };
      const value = find(wanted) ?? fallback;
      if (value === undefined) missing.set(`${wanted.kind} ${name}`, wanted);
      return value ?? whole;
    });
  const header = ({ name, value }: GivenSetting) => ({ name, value: expand(value), secret: true });
  const variable = ({ name, value }: GivenSetting) => ({
    ...{ name, value: expand(value) },
    // What the file leaves out may be secret, whatever its form.
    secret: referencesIn([value]).length > 0 || looksSecret(name, value),
  });
  const launch: LaunchInput =
    entry.kind === 'url'
      ? { url: expand(entry.url), headers: entry.headers.map(header) }
      : {
          command: expand(entry.command),
          args: entry.args.map(expand),
          cwd: entry.cwd === null ? null : expand(entry.cwd),
          env: entry.env.map(variable),
        };
  return { launch, missing: [...missing.values()] };
}
