import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { looksSecret, withoutSecretWords } from '../../services/contracts/secret-words.ts';
import { type LaunchWords, launchLine } from './launch-line.ts';

/** A launch as other programs write it, and in our words. */
export interface ForeignForm extends LaunchWords {
  readonly message: string;
}

/** Flags of `claude mcp add` that are none of ours. */
const scopes: readonly string[] = ['--scope', '-s'];
const transports: readonly string[] = ['--transport', '-t'];

/** Flags of `docker run`, without those that `svc server add` has too. True: the flag takes a value. */
const dockerFlags: Readonly<Record<string, boolean>> = {
  ...{ '--rm': false, '-i': false, '--interactive': false, '--tty': false, '-it': false, '-ti': false },
  ...{ '-d': false, '--detach': false, '--init': false, '--privileged': false, '--read-only': false },
  ...{ '-v': true, '--volume': true, '--mount': true, '-p': true, '--publish': true, '--network': true, '--net': true },
  ...{ '--entrypoint': true, '-w': true, '--workdir': true, '-u': true, '--user': true, '--pull': true },
};

/** A terminal, or the background, would take the input and output of an MCP server away. */
const notForServers: readonly string[] = ['-it', '-ti', '--tty', '-d', '--detach'];

/** `docker run` whose flags stand outside of its command, in our form; null for every other form. */
export function dockerForm({ own, command }: LaunchWords, switches: readonly string[]): ForeignForm | null {
  const kept: string[] = [];
  const moved: string[] = [];
  let at = 0;
  for (let names = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    const isFlag = word.startsWith('-');
    // Without `--`, the command begins at the second word.
    if (!isFlag && ++names === 2) break;
    const takesValue = isFlag && !word.includes('=') && !switches.includes(word) && dockerFlags[word] !== false;
    const words = own.slice(at, at + (takesValue ? 2 : 1));
    (word in dockerFlags ? moved : kept).push(...words);
    at += words.length - 1;
  }
  if (moved.length === 0) return null;
  const given = command ?? own.slice(at);
  const image = given[0] === 'docker' && given[1] === 'run' ? given.slice(2) : given;
  const fitting = moved.filter((word) => !notForServers.includes(word));
  const needed = ['-i', '--rm'].filter((word) => ![...fitting, ...image].includes(word));
  return {
    message: `${moved[0]} is a flag of docker run, which stands after -- with all of its flags.`,
    own: kept,
    command: ['docker', 'run', ...needed, ...fitting, ...(image.length === 0 ? ['IMAGE'] : image)],
  };
}

/** The words of `claude mcp add` and of similar commands, in our form; null for our own form. */
export function foreignForm(words: LaunchWords, switches: readonly string[]): ForeignForm | null {
  const { flags, rest } = withoutFlags(words.own, switches);
  const [name, second, ...more] = rest;
  const scope = flags.find(({ flag }) => scopes.includes(flag));
  const transport = flags.find(({ flag }) => transports.includes(flag));
  const hasUrl = flags.some(({ flag }) => flag === '--url');
  const isStdio = transport?.value === 'stdio';
  const ours = flags.filter((one) => one !== scope && (one !== transport || (!isStdio && one.flag === '--transport')));
  const own = (dropped: readonly Flag[] = []) => [
    ...(name === undefined ? [] : [name]),
    ...ours.filter((one) => !dropped.includes(one)).flatMap(({ words }) => words),
  ];
  if (second !== undefined && /^https?:\/\//i.test(second) && words.command === null && !hasUrl && more.length === 0) {
    const others = own(transport === undefined ? [] : [transport]);
    return {
      message: 'The URL of an MCP server stands after --url.',
      own: [...others, '--url', second],
      command: null,
    };
  }
  if (scope === undefined && !isStdio && transport?.flag !== '-t') return null;
  const command = words.command ?? (second === undefined ? null : [second, ...more]);
  const message =
    scope === undefined
      ? 'The transport follows from the form: a command after --, or --url.'
      : 'An MCP server belongs to a workspace (--workspace), so there is no --scope.';
  return { message, own: own(), command };
}

interface Flag {
  readonly flag: string;
  readonly value: string | undefined;
  readonly words: readonly string[];
}

/** Flags before the command, and the other words. A command without `--` keeps its own flags. */
function withoutFlags(own: readonly string[], switches: readonly string[]) {
  const flags: Flag[] = [];
  const rest: string[] = [];
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    const isOfCommand = rest.length >= 2 && !/^https?:\/\//i.test(rest[1] ?? '');
    if (isOfCommand || !word.startsWith('-')) {
      rest.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const joined = equals === -1 ? undefined : word.slice(equals + 1);
    const isAlone = joined !== undefined || switches.includes(word);
    const value = isAlone ? joined : own[at + 1];
    const flag = equals === -1 ? word : word.slice(0, equals);
    flags.push({ flag, value, words: isAlone || value === undefined ? [word] : [word, value] });
    if (!isAlone) at++;
  }
  return { flags, rest };
}

/** The answer to `claude mcp add-json NAME JSON`, with the line to type. */
export function refusalOfJson(words: readonly string[]): SvcError {
  const form = formOfJson(words);
  const line =
    form === null ? 'svc server add NAME -- COMMAND, or svc server add NAME --url URL' : launchLine('add', form);
  return new SvcError('invalid_input', 'An MCP server is not added as JSON.', { hint: `Type it as: ${line}` });
}

/** In our form, with secrets left out; null for no such JSON. */
function formOfJson([name = 'NAME', text = '']: readonly string[]): LaunchWords | null {
  const given = parse(text);
  if (!isObject(given)) return null;
  const settings = (flag: string, values: unknown, separator: string) =>
    Object.entries(isObject(values) ? values : {}).flatMap(([key, value]) =>
      typeof value !== 'string' || looksSecret(key, value) ? [flag, key] : [flag, `${key}${separator}${value}`],
    );
  if (typeof given.url === 'string') {
    const [url = ''] = withoutSecretWords([given.url]);
    return { own: [name, '--url', url, ...settings('--header', given.headers, ': ')], command: null };
  }
  if (typeof given.command !== 'string') return null;
  const args = Array.isArray(given.args) ? given.args.map(String) : [];
  const command = withoutSecretWords([given.command, ...args]);
  return { own: [name, ...settings('--env', given.env, '=')], command };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
