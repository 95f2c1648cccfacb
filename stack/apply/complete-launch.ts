import type { DeclaredSettingInput } from '../../services/contracts/declared-settings.ts';
import type { LaunchInput, Setting } from '../../services/contracts/launch.ts';
import { type SettingsField, settingKey } from '../../services/contracts/setting-rules.ts';
import type { LiveMcpServerFragment } from '../client/generated/operations.ts';

type LiveLaunch = LiveMcpServerFragment['launch'];

/**
 * The launch that a file asks for: a field that the file does not name stays as it is. Null without a command and a URL.
 * A setting without a value keeps its stored one. People fill in declared settings, so those that the file does not name
 * stay too.
 */
export function completeLaunch(given: LaunchInput, live: LiveLaunch): LaunchInput | null {
  const url = given.url ?? (given.command == null ? live?.url : null) ?? null;
  if (url !== null) {
    const before = live?.url == null ? null : live;
    const settings = given.settings ?? before?.settings ?? [];
    return { url, headers: values('headers', { given: given.headers, before, settings }), settings };
  }
  const before = live?.command == null ? null : live;
  const command = given.command ?? before?.command ?? null;
  if (command === null) return null;
  const settings = given.settings ?? before?.settings ?? [];
  return {
    command,
    args: given.args ?? before?.args ?? [],
    cwd: given.cwd ?? before?.cwd ?? null,
    env: values('env', { given: given.env, before, settings }),
    settings,
  };
}

interface Values {
  readonly given: LaunchInput['env'];
  readonly before: LiveLaunch;
  readonly settings: readonly DeclaredSettingInput[];
}

function values(field: SettingsField, { given, before, settings }: Values): readonly Setting[] {
  const stored = before?.[field] ?? [];
  if (given == null) return kept(stored);
  const keyOf = ({ name }: { readonly name: string }) => settingKey(field, name);
  const named = new Set(given.map(keyOf));
  const declared = new Set(settings.map(keyOf)).difference(named);
  return [...given, ...kept(stored.filter((setting) => declared.has(keyOf(setting))))];
}

function kept(settings: readonly { readonly name: string }[]) {
  return settings.map(({ name }) => ({ name, value: null }));
}
