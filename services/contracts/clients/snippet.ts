import {
  type Client,
  type Connection,
  clients,
  defaultServerName,
  type Entry,
  inputIdOf,
  type Place,
} from './clients.ts';

/** What a person copies to connect a client. */
export interface Snippet {
  readonly title: string;
  /** The file that it belongs to, or what it is. */
  readonly about: string;
  readonly text: string;
}

export interface InputOfVsCode {
  readonly type: 'promptString';
  readonly id: string;
  readonly description: string;
  readonly password: true;
}

/** The input of VS Code that asks for the key. */
export function inputOf(name: string): InputOfVsCode {
  return { type: 'promptString', id: inputIdOf(name), description: `API key of ${name}`, password: true };
}

export function textOf(client: Client, connection: Connection): string {
  if (client.kind === 'text') return client.text(connection);
  const entry = client.entry(connection);
  if (client.format === 'toml') return tomlTable(client.member, connection.name, entry);
  const inputs = client.keyFrom === 'input' && connection.key === null ? { inputs: [inputOf(connection.name)] } : {};
  return JSON.stringify({ ...inputs, [client.member]: { [connection.name]: entry } }, null, 2);
}

/** The snippets of the page. Each names the variable or the place of the key. */
export function snippetsFor(url: string): readonly Snippet[] {
  return clients.map((client) => ({
    title: client.title,
    about: client.kind === 'text' ? client.about : homePath(client.files[0]?.path(exampleHome) ?? ''),
    text: textOf(client, { name: defaultServerName, url, key: null }),
  }));
}

/** A reader knows these forms of a path. A file of macOS is found through `svc connect`. */
const exampleHome: Place = { home: '~', project: '.', isMac: false, env: {} };

function homePath(path: string): string {
  return path.replace(/^\.\//, '');
}

/** TOML 1.0: a table with strings and inline tables. A JSON string is a basic string of TOML too. */
export function tomlTable(member: string, name: string, entry: Entry): string {
  return [`[${member}.${name}]`, ...tomlLines(entry).values()].join('\n');
}

/** A line for each field, by its name. */
export function tomlLines(entry: Entry): ReadonlyMap<string, string> {
  return new Map(Object.entries(entry).map(([field, value]) => [field, `${field} = ${tomlValue(value)}`]));
}

function tomlValue(value: Entry[string]): string {
  if (typeof value === 'string' || Array.isArray(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, text]) => `${name} = ${JSON.stringify(text)}`);
  return `{ ${fields.join(', ')} }`;
}

/** The address with what an agent gets from the start (part 4 of the specification, preloading). */
export function withPreloading(
  url: string,
  { roles, skills }: { readonly roles: readonly string[]; readonly skills: readonly string[] },
): string {
  const lists = [
    ['roleIds', roles],
    ['skillIds', skills],
  ] as const;
  const query = lists.flatMap(([name, values]) =>
    values.length === 0 ? [] : [`${name}=${values.map(encodeURIComponent).join(',')}`],
  );
  return query.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${query.join('&')}`;
}
