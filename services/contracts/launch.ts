import { type Launch, launch as launchParser } from './bus/messages.ts';
import { type DeclaredSettingInput, findDeclaredProblems } from './declared-settings.ts';
import { type LaunchProblem, problemOfSettingName, type SettingsField, settingRules } from './setting-rules.ts';
import { launchMaxBytes, settingsMax } from './workspace-limits.ts';

/** A launch as a caller gives it: either `command` or `url`, each with its settings. */
export interface LaunchInput {
  readonly command?: string | null | undefined;
  readonly args?: readonly string[] | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly env?: readonly Setting[] | null | undefined;
  readonly url?: string | null | undefined;
  readonly headers?: readonly Setting[] | null | undefined;
  /** What its variables or headers mean. Absent or null: as stored, and none for a new MCP server. */
  readonly settings?: readonly DeclaredSettingInput[] | null | undefined;
}

export interface Setting {
  readonly name: string;
  /** Absent or null: the stored value of the MCP server stays. */
  readonly value?: string | null | undefined;
  /** Whether its value is never shown. Absent or null: as stored if the value stays, else true. */
  readonly secret?: boolean | null | undefined;
}

export type CheckedLaunch =
  | { readonly ok: true; readonly launch: Launch }
  | { readonly ok: false; readonly problems: readonly LaunchProblem[] };

/** The launch in its stored form, or all its problems. */
export function checkLaunch(input: LaunchInput): CheckedLaunch {
  const { command, url } = input;
  const problems: LaunchProblem[] = [];
  if (command != null && url != null) {
    problems.push({ path: [], message: '"command" and "url" exclude each other: give one of them' });
  } else if (command != null) {
    const launch = readChild(command, input, problems);
    if (problems.length === 0) return checkSizes(launch);
  } else if (url != null) {
    const launch = readHttp(url, input, problems);
    if (problems.length === 0) return checkSizes(launch);
  } else {
    problems.push({ path: [], message: 'give "command" to start a program, or "url" to reach a server over HTTP' });
  }
  return { ok: false, problems };
}

function readChild(command: string, input: LaunchInput, problems: LaunchProblem[]): Launch {
  const cwd = input.cwd ?? null;
  const args = [...(input.args ?? [])];
  if (input.headers != null) problems.push({ path: ['headers'], message: '"headers" belong to "url"' });
  if (command.trim() === '') problems.push({ path: ['command'], message: '"command" is empty' });
  if (cwd !== null && !cwd.startsWith('/')) {
    problems.push({ path: ['cwd'], message: `"cwd" is "${cwd.slice(0, 200)}": it must be an absolute path` });
  }
  // No system call takes a zero byte inside a path, an argument or a variable, and no UTF-8 holds half a character.
  for (const [name, text] of Object.entries({ command, cwd: cwd ?? '', args: args.join(' ') })) {
    if (text.includes('\0')) problems.push({ path: [name], message: `"${name}" must not hold a zero byte` });
    if (!text.isWellFormed()) problems.push({ path: [name], message: `"${name}" must not hold half a character` });
  }
  problems.push(...findDeclaredProblems('env', input.settings ?? []));
  return { kind: 'child', command: command.trim(), args, cwd, env: readSettings('env', input.env ?? [], problems) };
}

function readHttp(url: string, input: LaunchInput, problems: LaunchProblem[]): Launch {
  for (const name of ['args', 'cwd', 'env'] as const) {
    if (input[name] != null) problems.push({ path: [name], message: `"${name}" belongs to "command"` });
  }
  const wrong = problemOfUrl(url.trim());
  if (wrong !== null) problems.push({ path: ['url'], message: wrong });
  problems.push(...findDeclaredProblems('headers', input.settings ?? []));
  return { kind: 'http', url: url.trim(), headers: readSettings('headers', input.headers ?? [], problems) };
}

function problemOfUrl(text: string): string | null {
  if (!URL.canParse(text)) return `"url" is "${withoutCredentials(text).slice(0, 200)}": it must be a full URL`;
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `"url" starts with "${protocol}": use http or https`;
  // A URL is shown to people, and so would a password inside it be.
  return username === '' && password === '' ? null : '"url" must not hold a user or password: send them as a header';
}

/** Applies to a malformed URL too, whose error would show a password in it. */
function withoutCredentials(text: string): string {
  return text.replace(/[^/]*@/, '…@');
}

function readSettings(
  field: SettingsField,
  settings: readonly Setting[],
  problems: LaunchProblem[],
): Record<string, string> {
  const { isValue, keyOf } = settingRules[field];
  const seen = new Map<string, string>();
  for (const { name, value } of settings) {
    const complain = (message: string) => problems.push({ path: [field, name], message });
    const key = keyOf(name);
    const wrong = problemOfSettingName(field, name);
    if (wrong !== null) complain(wrong);
    else if (seen.has(key)) complain(`"${name}" is in "${field}" twice`);
    if (value == null) complain(`"${name.slice(0, 80)}" in "${field}" has no value, and no stored value to keep`);
    else if (!isValue(value)) complain(`the value of "${name.slice(0, 80)}" in "${field}" holds a forbidden character`);
    seen.set(key, value ?? '');
  }
  return Object.fromEntries(seen);
}

function checkSizes(launch: Launch): CheckedLaunch {
  const parsed = launchParser.safeParse(launch);
  if (parsed.success) {
    const problems = [...tooManySettings(parsed.data), ...tooLarge(parsed.data)];
    return problems.length === 0 ? { ok: true, launch: parsed.data } : { ok: false, problems };
  }
  const problems = parsed.error.issues.map((issue) => ({
    path: issue.path.filter((part) => typeof part !== 'symbol'),
    message: `"${issue.path.join('.')}" ${issue.code === 'too_big' ? `is too long: at most ${issue.maximum}` : issue.message}`,
  }));
  return { ok: false, problems };
}

/** Not a rule of the parser, because launches that were stored earlier must stay readable. */
function tooManySettings(launch: Launch): readonly LaunchProblem[] {
  const [field, settings] = launch.kind === 'child' ? ['env', launch.env] : ['headers', launch.headers];
  const count = Object.keys(settings).length;
  if (count <= settingsMax) return [];
  return [{ path: [field], message: `"${field}" holds ${count}: it may hold ${settingsMax} at most` }];
}

function tooLarge(launch: Launch): readonly LaunchProblem[] {
  const bytes = new TextEncoder().encode(JSON.stringify(launch)).byteLength;
  if (bytes <= launchMaxBytes) return [];
  return [{ path: [], message: `the launch has ${bytes} bytes as JSON, and may have ${launchMaxBytes} at most` }];
}
