import type { Config } from '@oclif/core/config';
import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { sharedSwitches } from '../command.ts';
import { refusalOfJson } from '../launch/foreign-forms.ts';

/** A command to run, or help to show. */
export type CommandLine =
  | { readonly kind: 'command'; readonly id: string; readonly words: readonly string[] }
  /** Id of a command or a topic; null for the whole command line. */
  | { readonly kind: 'help'; readonly id: string | null };

type KnownCommands = readonly { readonly id: string; readonly aliases: readonly string[] }[];

const helpFlags: readonly string[] = ['--help', '-h'];

/** Finds the command among the typed words. Shared flags may stand before it. */
export function parseCommandLine(typed: readonly string[], { commands }: Pick<Config, 'commands'>): CommandLine {
  // oclif lists a command again for each alias.
  const known = commands.filter(({ id, aliases }) => !aliases.includes(id));
  const { flags, rest } = flagsBefore(typed);
  const end = rest.indexOf('--');
  const own = end === -1 ? rest : rest.slice(0, end);
  const asksHelp = own[0] === 'help' || [...flags, ...own].some((word) => helpFlags.includes(word));
  const [first, second] = commandWords(own[0] === 'help' ? own.slice(1) : own);
  if (first === undefined) {
    if (asksHelp || typed.length === 0) return { kind: 'help', id: null };
    throw new SvcError('invalid_input', 'The command is missing.', { hint: 'See svc --help.' });
  }
  const command = findCommand(known, first, second);
  if (command !== null) {
    if (asksHelp) return { kind: 'help', id: command.id };
    return { kind: 'command', id: command.id, words: [...flags, ...rest.slice(command.words)] };
  }
  const topic = topicOf(known, first);
  if (topic === null) throw unknownCommand(first, second, known);
  if (topic === 'server' && second === 'add-json') throw refusalOfJson(own.slice(2));
  if (second !== undefined) throw unknownOfTopic({ topic, typedTopic: first, word: second }, known);
  if (!asksHelp && [...flags, ...own].includes('--json')) {
    throw new SvcError('invalid_input', `"svc ${first}" is not a complete command.`, { hint: listed(topic, known) });
  }
  return { kind: 'help', id: topic };
}

/** The flags before the first word. Only `--dir` takes a value. */
function flagsBefore(typed: readonly string[]): { readonly flags: string[]; readonly rest: readonly string[] } {
  const flags: string[] = [];
  let at = 0;
  for (let word = typed[at]; word?.startsWith('-') && word !== '--'; word = typed[at]) {
    const value = typed[at + 1];
    if (word === '--dir' && value !== undefined) flags.push(`--dir=${value}`);
    else if (sharedSwitches.includes(word) || helpFlags.includes(word) || word.startsWith('--dir=')) flags.push(word);
    else throw unknownBefore(word);
    at += word === '--dir' ? 2 : 1;
  }
  return { flags, rest: typed.slice(at) };
}

function unknownBefore(word: string): SvcError {
  if (word === '--dir') return new SvcError('invalid_input', '--dir needs a value: --dir DIR.');
  const meant = word === '-V' ? '--version' : nearest(word, [...sharedSwitches, '--help', '--version', '--dir']);
  return new SvcError('invalid_input', `There is no flag ${word} before a command.`, {
    hint: meant === null ? 'See svc --help.' : `Did you mean ${meant}?`,
  });
}

/** The words up to the first flag. */
function commandWords(own: readonly string[]): readonly string[] {
  const end = own.findIndex((word) => word.startsWith('-'));
  return end === -1 ? own : own.slice(0, end);
}

function findCommand(
  commands: KnownCommands,
  first: string,
  second: string | undefined,
): { readonly id: string; readonly words: number } | null {
  for (const [name, words] of [
    [`${first}:${second}`, 2],
    [first, 1],
  ] as const) {
    const found = commands.find(({ id, aliases }) => id === name || aliases.includes(name));
    if (found !== undefined) return { id: found.id, words };
  }
  return null;
}

/** The topic's name in the commands' ids. A topic has a singular and a plural name. */
function topicOf(commands: KnownCommands, given: string): string | null {
  const found = commands.find(({ id, aliases }) => [id, ...aliases].some((name) => name.startsWith(`${given}:`)));
  return found?.id.split(':')[0] ?? null;
}

/** Verbs of other programs, with the corresponding verbs here, best first. */
const habits: Readonly<Record<string, readonly string[]>> = {
  start: ['up', 'enable'],
  run: ['up'],
  stop: ['down', 'disable'],
  ps: ['status'],
  log: ['logs'],
  rm: ['remove', 'revoke'],
  del: ['remove', 'revoke'],
  delete: ['remove', 'revoke'],
  remove: ['revoke'],
  revoke: ['remove'],
  ls: ['list'],
  edit: ['update'],
  set: ['update'],
  change: ['update'],
  rename: ['update'],
  get: ['show'],
  add: ['create'],
  new: ['create', 'add'],
  create: ['add'],
};

/** Topics by the words that other programs use for them. */
const otherTopics: Readonly<Record<string, string>> = {
  mcp: 'server',
  mcps: 'server',
  token: 'keys',
  tokens: 'keys',
  member: 'user',
  members: 'user',
};

function unknownCommand(given: string, second: string | undefined, known: KnownCommands): SvcError {
  const hint = unknownHint(given.toLowerCase(), second?.toLowerCase(), known);
  return new SvcError('invalid_input', `"svc ${given}" is not a command.`, { hint });
}

function unknownHint(given: string, second: string | undefined, known: KnownCommands): string {
  if (given === 'version') return 'Did you mean "svc --version"?';
  const firsts = [...new Set(known.map(({ id }) => id.split(':')[0] ?? id))];
  const habit = habits[given]?.find((word) => firsts.includes(word));
  if (habit !== undefined) return `Did you mean "svc ${habit}"?`;
  const swapped = second === undefined ? null : (topicOf(known, second) ?? otherTopics[second] ?? null);
  // A verb without its topic, or before it.
  const ofVerb = commandsOfVerb(given, known).filter((id) => swapped === null || id.startsWith(`${swapped}:`));
  if (ofVerb.length > 0) return `Did you mean ${ofVerb.map((id) => `"svc ${id.replace(':', ' ')}"`).join(', ')}?`;
  const topic = otherTopics[given] ?? nearest(given, firsts);
  if (topic === null) return 'See svc --help.';
  const verb =
    second === undefined
      ? undefined
      : [second, ...(habits[second] ?? [])].find((word) => verbsOf(topic, known).includes(word));
  return `Did you mean "svc ${topic}${verb === undefined ? '' : ` ${verb}`}"?`;
}

/** The commands whose verb this is; else those of the verb that is meant by habit. */
function commandsOfVerb(given: string, known: KnownCommands): string[] {
  for (const verb of [given, ...(habits[given] ?? [])]) {
    const found = known.flatMap(({ id }) => (id.endsWith(`:${verb}`) ? [id] : []));
    if (found.length > 0) return found.sort();
  }
  return [];
}

interface UnknownOfTopic {
  readonly topic: string;
  readonly typedTopic: string;
  readonly word: string;
}

function unknownOfTopic({ topic, typedTopic, word }: UnknownOfTopic, known: KnownCommands): SvcError {
  const verbs = verbsOf(topic, known);
  const meant = habits[word.toLowerCase()]?.find((other) => verbs.includes(other)) ?? nearest(word, verbs);
  return new SvcError('invalid_input', `"svc ${typedTopic} ${word}" is not a command.`, {
    hint: meant === null ? listed(topic, known) : `Did you mean "svc ${topic} ${meant}"?`,
  });
}

function listed(topic: string, known: KnownCommands): string {
  return `There are: ${verbsOf(topic, known)
    .map((verb) => `svc ${topic} ${verb}`)
    .join(', ')}.`;
}

function verbsOf(topic: string, known: KnownCommands): string[] {
  return known.flatMap(({ id }) => (id.startsWith(`${topic}:`) ? [id.slice(topic.length + 1)] : [])).sort();
}
