import { clientNames } from '../../services/contracts/clients/clients.ts';
import { logLevels } from '../../services/contracts/env/variable.ts';
import { mcpServerCatalogue } from '../../services/contracts/mcp-server-catalogue.ts';
import type { Command, Flag } from './manifest.ts';

/** Objects whose names are completed. */
export type Noun =
  | 'MCP server'
  | 'tool'
  | 'integration'
  | 'skill'
  | 'role'
  | 'key'
  | 'runtime'
  | 'workspace'
  | 'service';

/** What may stand at the cursor. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  | {
      readonly kind: 'names';
      readonly noun: Noun;
      readonly workspace: string | undefined;
      readonly dir: string | undefined;
    }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' };

export interface Word {
  readonly word: string;
  readonly about: string;
}

/** What may stand in the place of the last word, which may be unfinished. `before` are the words between `svc` and it. */
export function completeAt(before: readonly string[], current: string, commands: readonly Command[]): Completion {
  // After --, another program's words follow.
  if (before.includes('--')) return { kind: 'files' };
  const typed = readTyped(before, commands);
  const { command, pending } = typed;
  if (pending !== null) return completeValue(pending, typed);
  const inFlag = /^--([^=]+)=/.exec(current)?.[1];
  const flags = Object.values(command?.flags ?? {}).filter(({ hidden }) => !hidden);
  if (inFlag !== undefined) {
    const flag = flags.find(({ name }) => name === inFlag);
    return flag === undefined ? nothing : completeValue(flag, typed);
  }
  if (current.startsWith('-')) return words(flagWords(command, typed.given));
  if (command !== null) return positional(command, typed);
  return words(typed.topic === null ? firstWords(commands) : verbsOf(typed.topic, commands));
}

const nothing: Completion = { kind: 'words', words: [] };

function words(list: readonly Word[]): Completion {
  return { kind: 'words', words: list };
}

interface Typed {
  readonly command: Command | null;
  /** The first word, if it is no whole command. */
  readonly topic: string | null;
  readonly positionals: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  /** Names of the flags. */
  readonly given: ReadonlySet<string>;
  /** A flag that waits for its value. */
  readonly pending: Flag | null;
}

function readTyped(before: readonly string[], commands: readonly Command[]): Typed {
  let command: Command | null = null;
  let topic: string | null = null;
  let pending: Flag | null = null;
  const positionals: string[] = [];
  const values = new Map<string, string>();
  const given = new Set<string>();
  for (const word of before) {
    if (pending !== null) {
      values.set(pending.name, word);
      pending = null;
      continue;
    }
    if (word.startsWith('-')) {
      const [name = '', ...value] = word.replace(/^--?/, '').split('=');
      const flag = findFlag(name, command, commands);
      if (flag === undefined) continue;
      given.add(flag.name);
      if (value.length > 0) values.set(flag.name, value.join('='));
      else if (flag.type === 'option') pending = flag;
      continue;
    }
    if (command !== null) {
      positionals.push(word);
      continue;
    }
    const id = topic === null ? word : `${topic}:${word}`;
    command = commands.find((one) => one.id === id || one.aliases.includes(id)) ?? null;
    // A command such as `status` takes no verb. A topic may have the name of none.
    topic = topic ?? word;
  }
  return { command, topic, positionals, values, given, pending };
}

/** Before the command is known, only the flags that all commands share are. */
function findFlag(name: string, command: Command | null, commands: readonly Command[]): Flag | undefined {
  const flags = Object.values((command ?? commands[0])?.flags ?? {});
  return flags.find((flag) => flag.name === name || flag.char === name);
}

function flagWords(command: Command | null, given: ReadonlySet<string>): readonly Word[] {
  const own = Object.values(command?.flags ?? {}).filter(
    (flag) => !flag.hidden && (flag.multiple || !given.has(flag.name)),
  );
  return [
    ...own.map(({ name, summary }) => ({ word: `--${name}`, about: summary })),
    { word: '--help', about: 'Show the help.' },
  ];
}

function firstWords(commands: readonly Command[]): readonly Word[] {
  const byFirst = new Map<string, Word>();
  for (const { id, aliases, summary } of commands) {
    if (aliases.includes(id)) continue;
    const [word = id, verb] = id.split(':');
    const known = byFirst.get(word);
    byFirst.set(word, {
      word,
      about: verb === undefined ? summary : `${known === undefined ? '' : `${known.about}, `}${verb}`,
    });
  }
  return [...byFirst.values()];
}

/** The verbs of a topic, in its singular or plural form. */
function verbsOf(topic: string, commands: readonly Command[]): readonly Word[] {
  const verbs = commands.flatMap(({ id, aliases, summary }) =>
    [id, ...aliases].flatMap((name) =>
      name.startsWith(`${topic}:`) ? [{ word: name.slice(topic.length + 1), about: summary }] : [],
    ),
  );
  return verbs.filter(({ word }, at) => verbs.findIndex((other) => other.word === word) === at);
}

const nounsOfFlags: Readonly<Record<string, Noun>> = { workspace: 'workspace', runtime: 'runtime' };

/** Several flags of a command may take the same. */
const nounsOfValues: Readonly<Record<string, Noun>> = { ROLE: 'role', SKILL: 'skill', 'MCPSERVER/TOOL': 'tool' };

/** By flag, or by command and flag. */
const choicesOfFlags: Readonly<Record<string, readonly string[]>> = {
  client: clientNames,
  'server:add from': mcpServerCatalogue.map(({ name }) => name),
  'server:import from': clientNames,
  level: logLevels,
};

function completeValue({ name, helpValue = '' }: Flag, typed: Typed): Completion {
  const noun = nounsOfFlags[name] ?? nounsOfValues[helpValue];
  if (noun !== undefined) return names(noun, typed);
  const choices =
    choicesOfFlags[`${typed.command?.id} ${name}`] ??
    choicesOfFlags[name] ??
    (/^[\w-]+(\|[\w-]+)+$/.test(helpValue) ? helpValue.split('|') : []);
  if (choices.length > 0) return words(choices.map((word) => ({ word, about: '' })));
  if (helpValue === 'FILE') return { kind: 'files' };
  return helpValue === 'DIR' ? { kind: 'folders' } : nothing;
}

const nounsOfTopics: Readonly<Record<string, Noun>> = {
  server: 'MCP server',
  skill: 'skill',
  role: 'role',
  keys: 'key',
  runtime: 'runtime',
  workspace: 'workspace',
  integration: 'integration',
};

/** Their first word is a new name. */
const makingVerbs: readonly string[] = ['add', 'create', 'import', 'register', 'start'];

function positional(command: Command, typed: Typed): Completion {
  const args = Object.keys(command.args);
  const at = typed.positionals.length;
  const arg = args[at] ?? (command.strict ? undefined : args.at(-1));
  const [topic = '', verb = ''] = command.id.split(':');
  if (arg === 'file' || arg === 'files') return { kind: 'files' };
  if (arg === 'dir') return { kind: 'folders' };
  if (arg === 'shell') return words(['bash', 'zsh', 'fish'].map((word) => ({ word, about: '' })));
  if (arg === 'what') return words(['app', 'api'].map((word) => ({ word, about: '' })));
  if (arg === 'service' || arg === 'services') return names('service', typed);
  if (arg === 'skill' || arg === 'tool') return names(arg, typed);
  if (arg === 'server') return names('MCP server', typed);
  const noun = nounsOfTopics[topic];
  if (arg === undefined || noun === undefined || makingVerbs.includes(verb)) return nothing;
  return names(noun, typed);
}

function names(noun: Noun, { values }: Typed): Completion {
  return { kind: 'names', noun, workspace: values.get('workspace'), dir: values.get('dir') };
}
