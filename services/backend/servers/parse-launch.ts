import { isAbsolute } from 'node:path';
import { type Launch, launch as launchParser } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';

/** A launch as a caller gives it: either `command` or `url`, with what belongs to it. */
export interface LaunchInput {
  readonly command?: string | null | undefined;
  readonly args?: readonly string[] | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly env?: readonly Setting[] | null | undefined;
  readonly url?: string | null | undefined;
  readonly headers?: readonly Setting[] | null | undefined;
}

export interface Setting {
  readonly name: string;
  readonly value: string;
}

export function parseLaunch(input: LaunchInput): Launch {
  const { command, url } = input;
  if (command != null && url != null) throw wrong('"command" and "url" exclude each other: give one of them');
  if (command != null) return parseChild(command, input);
  if (url != null) return parseHttp(url, input);
  throw wrong('give "command" to start a program, or "url" to reach a server over HTTP');
}

function parseChild(command: string, input: LaunchInput): Launch {
  if (input.headers != null) throw wrong('"headers" belong to "url"');
  const { cwd = null, args = [] } = input;
  if (command.trim() === '') throw wrong('"command" is empty');
  if (cwd !== null && !isAbsolute(cwd)) throw wrong(`"cwd" is "${cwd.slice(0, 200)}": it must be an absolute path`);
  // No system call takes a zero byte inside a path, an argument or a variable.
  for (const text of [command, cwd ?? '', ...(args ?? [])]) {
    if (text.includes('\0')) throw wrong('"command", "args" and "cwd" must not hold a zero byte');
  }
  const env = parseSettings('env', input.env ?? [], isVariableName, 'letters, digits and _, not starting with a digit');
  return checkSizes({ kind: 'child', command: command.trim(), args: [...(args ?? [])], cwd, env });
}

function parseHttp(url: string, input: LaunchInput): Launch {
  for (const name of ['args', 'cwd', 'env'] as const) {
    if (input[name] != null) throw wrong(`"${name}" belongs to "command"`);
  }
  const headers = parseSettings('headers', input.headers ?? [], isHeaderName, 'a header name of RFC 9110');
  return checkSizes({ kind: 'http', url: parseUrl(url.trim()), headers });
}

function parseUrl(text: string): string {
  if (!URL.canParse(text)) throw wrong(`"url" is "${withoutCredentials(text).slice(0, 200)}": it must be a full URL`);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') throw wrong(`"url" starts with "${protocol}": use http or https`);
  // A URL is shown to people; a password inside would be too.
  if (username !== '' || password !== '') throw wrong('"url" must not hold a user or password: send them as a header');
  return text;
}

/** Of what is not even a URL, too: a password in it would be shown with the mistake. */
function withoutCredentials(text: string): string {
  return text.replace(/[^/]*@/, '…@');
}

function parseSettings(
  field: 'env' | 'headers',
  settings: readonly Setting[],
  isName: (name: string) => boolean,
  rule: string,
): Record<string, string> {
  const seen = new Map<string, string>();
  for (const { name, value } of settings) {
    if (!isName(name)) throw wrong(`"${name.slice(0, 80)}" in "${field}" is no name: it must be ${rule}`);
    // Header names are the same in any case (RFC 9110 §5.1).
    const key = field === 'headers' ? name.toLowerCase() : name;
    if (seen.has(key)) throw wrong(`"${name}" is in "${field}" twice`);
    if (!isValue(field, value)) throw wrong(`the value of "${name}" in "${field}" holds a character it may not hold`);
    seen.set(key, value);
  }
  return Object.fromEntries(seen);
}

function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name);
}

/** RFC 9110 §5.6.2: a token. What the transport itself sets is not for us to overwrite. */
function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,255}$/.test(name) && !transportHeaders.includes(name.toLowerCase());
}

const transportHeaders = ['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer'];

/** A header value is visible text, spaces and tabs (RFC 9110 §5.5); an environment value ends at a zero byte. */
function isValue(field: 'env' | 'headers', value: string): boolean {
  return field === 'env' ? !value.includes('\0') : /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function checkSizes(launch: Launch): Launch {
  const parsed = launchParser.safeParse(launch);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw wrong(`"${issue?.path.join('.')}" is too long: ${issue?.message}`);
}

function wrong(why: string): SvcError {
  return new SvcError('invalid_input', `The launch is not valid: ${why}.`);
}
