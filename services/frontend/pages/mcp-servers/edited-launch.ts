import { looksSecret } from '../../../contracts/secret-words.ts';
import { shellWord } from '../../../contracts/shell-word.ts';
import type { LaunchInput, Setting } from '../../graphql/generated/operations.ts';
import type { ShownLaunch } from './filled-launch.ts';
import { readTypedLaunch, wordsOf } from './typed-launch.ts';

/** A variable or header in the form. */
export interface EditedSetting {
  /** Unique in the form. */
  readonly key: number;
  readonly name: string;
  /** Null: the stored value stays. */
  readonly value: string | null;
  /** A stored secret value is not known to the page. */
  readonly isSecret: boolean;
  /** It is stored, so its name stays. */
  readonly isStored: boolean;
}

/** What a person changes of a launch. */
export interface EditedLaunch {
  /** A command as in a shell, or an address. */
  readonly line: string;
  readonly cwd: string;
  readonly settings: readonly EditedSetting[];
}

/** The form for a stored launch. Declared settings have a form of their own. */
export function editedLaunch(launch: ShownLaunch): EditedLaunch {
  const declared = new Set(launch.settings.map(({ name }) => name));
  const stored = storedIn(launch).filter(({ name }) => !declared.has(name));
  return {
    line: launch.url ?? [launch.command ?? '', ...(launch.args ?? [])].map(shellWord).join(' '),
    cwd: launch.cwd ?? '',
    settings: stored.map(({ name, value }, key) => ({
      ...{ key, name, isStored: true },
      value: value ?? null,
      isSecret: value == null,
    })),
  };
}

export type ReadLaunch = { readonly launch: LaunchInput } | { readonly problem: string };

/** The launch that the form asks for. Values that it does not name stay as they are stored. */
export function readEdited(stored: ShownLaunch, { line, cwd, settings }: EditedLaunch): ReadLaunch {
  const typed = readLine(line);
  if ('problem' in typed) return typed;
  const isSameKind = (stored.url == null) === (typed.url == null);
  const named = settings.filter(({ name }) => name.trim() !== '');
  const given = named.flatMap((one) => settingOf(stored, one, isSameKind) ?? []);
  const declared = new Set(isSameKind ? stored.settings.map(({ name }) => name) : []);
  const kept = storedIn(stored).flatMap(({ name }) => (declared.has(name) ? [{ name }] : []));
  const values = [...given, ...kept];
  const folder = cwd.trim() === '' ? null : cwd.trim();
  return { launch: typed.url == null ? { ...typed, cwd: folder, env: values } : { ...typed, headers: values } };
}

/** A quotation mark at the start is one of a shell here. A block of JSON is for new MCP servers. */
function readLine(line: string): LaunchInput | { readonly problem: string } {
  const typed = line.trim();
  if (/^(https?:|\{)/i.test(typed)) {
    const read = readTypedLaunch(typed);
    if (read.kind === 'url') return read.launch;
    return { problem: read.kind === 'wrong' ? read.problem : 'Type a command or an address, not JSON.' };
  }
  const words = wordsOf(typed);
  if (words === null) return { problem: 'A quotation mark in the command is not closed.' };
  const [command, ...args] = words;
  return command === undefined ? { problem: 'Type a command or an address.' } : { command, args };
}

/** Nothing for a stored value that cannot move from a variable to a header. */
function settingOf(stored: ShownLaunch, { name, value, isSecret, isStored }: EditedSetting, isSameKind: boolean) {
  const before = storedIn(stored).find((one) => one.name === name);
  if (isStored && (value === null || value === before?.value)) return isSameKind ? { name } : null;
  const setting: Setting = {
    name: name.trim(),
    value: value ?? '',
    secret: isSecret || looksSecret(name.trim(), value ?? ''),
  };
  return setting;
}

function storedIn({ url, env, headers }: ShownLaunch): ShownLaunch['env'] {
  return url == null ? env : headers;
}
