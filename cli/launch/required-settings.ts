import { SvcError } from '../../services/contracts/errors.ts';
import { type SettingsField, settingKey } from '../../services/contracts/setting-rules.ts';
import type { Setting, SettingDeclaration } from '../../stack/client/generated/operations.ts';
import type { McpServer } from '../objects/servers.ts';

type Launch = NonNullable<McpServer['launch']>;

export interface Requirements {
  readonly field: SettingsField;
  /** Those before the command. */
  readonly declared: readonly SettingDeclaration[];
  /** The present launch; null for a new MCP server. */
  readonly stored: Launch | null;
  /** The values of the command. */
  readonly given: readonly Setting[];
  readonly required: readonly string[];
  readonly unset: readonly string[];
}

/** The declared settings of a launch after the command. Declarations that it does not name stay. */
export function declaredAfter(requirements: Requirements): readonly SettingDeclaration[] {
  const { field, declared, stored, given, required, unset } = requirements;
  const keyOf = (name: string) => settingKey(field, name);
  const removed = new Set(unset.map(keyOf));
  const unknown = unset.find((name) => !declared.some((one) => one.name === keyOf(name)));
  if (unknown !== undefined) {
    const names = declared.map(({ name }) => name);
    throw new SvcError('invalid_input', `There is no declared setting "${unknown}" to remove.`, {
      hint: names.length === 0 ? 'It has no declared settings.' : `It has: ${names.join(', ')}.`,
    });
  }
  const wanted = new Set(required.map(keyOf));
  const kept = declared
    .filter(({ name }) => !removed.has(name))
    .map((one) => (wanted.has(one.name) ? { ...one, required: true } : one));
  const known = new Set(kept.map(({ name }) => name));
  const plain = plainNames(field, stored, given);
  const added = [...wanted.difference(known)].map((name) => ({ name, secret: !plain.has(name), required: true }));
  return [...kept, ...added];
}

/** Declarations for a command say nothing about an address. */
export function declaredIn({ url, settings }: Launch, field: SettingsField): readonly SettingDeclaration[] {
  if ((url === null) !== (field === 'env')) return [];
  return settings.map(({ isSet: _, ...declared }) => declared);
}

/** Settings whose values are shown, before and after the command. */
function plainNames(field: SettingsField, stored: Launch | null, given: readonly Setting[]): ReadonlySet<string> {
  const shown = (stored?.[field] ?? []).filter(({ value }) => value !== null).map(({ name }) => name);
  const names = new Set(shown);
  for (const { name, secret } of given) {
    if (secret === false) names.add(settingKey(field, name));
    else names.delete(settingKey(field, name));
  }
  return names;
}
