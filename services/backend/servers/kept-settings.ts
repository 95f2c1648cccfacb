import type { Launch } from '../../contracts/bus/messages.ts';
import { declaredSettings } from '../../contracts/declared-settings.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { LaunchInput, Setting } from '../../contracts/launch.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { type SettingsField, settingKey } from '../../contracts/setting-rules.ts';
import { type KeptLaunch, settingsOf } from './launch.ts';
import { parseLaunch } from './parse-launch.ts';

/** The existing MCP server whose stored values a launch may keep, and the author of the new launch. */
export interface Keeping {
  readonly name: string;
  readonly kept: KeptLaunch;
  readonly author: Author;
}

/** A launch with all its values, the names of its settings whose values may be shown, and its declared settings. */
export type CompleteLaunch = Omit<KeptLaunch, 'setBy'>;

/** Takes the values that the input leaves out from the stored launch. Without an MCP server, all must be given. */
export function completeLaunch(input: LaunchInput, keeping: Keeping | null): CompleteLaunch {
  const field = input.command == null ? 'headers' : 'env';
  const given = input[field] ?? [];
  const stored = keeping === null ? new Map<string, Stored>() : storedIn(keeping.kept, field);
  const isKept = ({ value }: Setting) => value == null;
  const known = (setting: Setting) => stored.get(settingKey(field, setting.name));
  if (keeping !== null) refuseKeeping(given.filter(isKept), known, { ...keeping, field });
  const settings = given.map((setting) => {
    const before = isKept(setting) ? known(setting) : undefined;
    return { ...setting, value: setting.value ?? before?.value, secret: setting.secret ?? before?.secret ?? true };
  });
  const launch = parseLaunch({ ...input, ...(input[field] == null ? {} : { [field]: settings }) });
  const declared =
    input.settings == null ? declaredIn(keeping?.kept ?? null, field) : declaredSettings(field, input.settings);
  const declaredSecrets = new Set(declared.filter(({ secret }) => secret).map(({ name }) => name));
  const plain = settings.filter(({ secret }) => !secret).map(({ name }) => settingKey(field, name));
  return { launch, plain: plain.filter((name) => !declaredSecrets.has(name)).sort(), declared };
}

/** Throws unless the author may use the secret values of the stored launch without knowing them. */
export function requireOwnSecrets({ name, kept, author }: Keeping, secrets = secretNames(kept)): void {
  if (author === 'operator' || kept.setBy === 'member' || secrets.length === 0) return;
  throw new SvcError(
    'forbidden',
    `An operator set the launch of the MCP server "${name}", and only an operator may use its secret values: ${listed(secrets)}.`,
    { hint: 'Give new values for these settings, or leave the settings out.' },
  );
}

/** The names of settings whose values nobody is shown. */
function secretNames({ launch, plain }: KeptLaunch): readonly string[] {
  return Object.keys(settingsOf(launch)).filter((name) => !plain.includes(name));
}

interface Stored {
  readonly value: string;
  readonly secret: boolean;
}

function storedIn({ launch, plain }: KeptLaunch, field: SettingsField): ReadonlyMap<string, Stored> {
  if (fieldOf(launch) !== field) return new Map();
  const entries = Object.entries(settingsOf(launch));
  return new Map(entries.map(([name, value]) => [name, { value, secret: !plain.includes(name) }]));
}

/** Declarations for a command say nothing about an address. */
function declaredIn(kept: KeptLaunch | null, field: SettingsField): KeptLaunch['declared'] {
  return kept === null || fieldOf(kept.launch) !== field ? [] : kept.declared;
}

/** A secret value must not come out: neither shown, nor sent to a program that somebody else chose. */
function refuseKeeping(
  settings: readonly Setting[],
  known: (setting: Setting) => Stored | undefined,
  keeping: Keeping & { readonly field: SettingsField },
): void {
  const namesOf = (chosen: readonly Setting[]) => chosen.map(({ name }) => name);
  const absent = namesOf(settings.filter((setting) => known(setting) === undefined));
  if (absent.length > 0) {
    throw new SvcError(
      'invalid_input',
      `The MCP server "${keeping.name}" has no stored value to keep in "${keeping.field}" for ${listed(absent)}.`,
      { hint: 'Give the values.' },
    );
  }
  const secrets = settings.filter((setting) => known(setting)?.secret);
  requireOwnSecrets(keeping, namesOf(secrets));
  const shown = namesOf(secrets.filter(({ secret }) => secret === false));
  if (shown.length > 0) {
    throw new SvcError('forbidden', `A stored secret value is never shown: ${listed(shown)}.`, {
      hint: 'Give the values again to store them as plain ones.',
    });
  }
}

const namesMax = 20;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((name) => `"${name.slice(0, 80)}"`);
  return shown.join(', ') + (names.length > namesMax ? ` and ${names.length - namesMax} more` : '');
}

/**
 * Settings that the second launch adds, removes, gives another value, or shows where the first hides it: `env.NAME` or
 * `headers.name`.
 */
export function changedSettings(before: CompleteLaunch, after: CompleteLaunch): readonly string[] {
  const was = textsOf(before);
  const is = textsOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name)).sort();
}

function textsOf({ launch, plain }: CompleteLaunch): ReadonlyMap<string, string> {
  const field: SettingsField = fieldOf(launch);
  const entries = Object.entries(settingsOf(launch));
  return new Map(entries.map(([name, value]) => [`${field}.${name}`, `${plain.includes(name)} ${value}`]));
}

function fieldOf({ kind }: Launch): SettingsField {
  return kind === 'child' ? 'env' : 'headers';
}
