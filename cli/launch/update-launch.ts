import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../services/contracts/errors.ts';
import type { SettingsField } from '../../services/contracts/setting-rules.ts';
import type { LaunchInput, Setting, SettingDeclaration } from '../../stack/client/generated/operations.ts';
import type { McpServer } from '../objects/servers.ts';
import { folderOf, requiredNames } from './launch-flags.ts';
import { declaredAfter, declaredIn } from './required-settings.ts';

type Launch = NonNullable<McpServer['launch']>;

/** The parts of a launch that an update names. Absent ones stay. */
export interface LaunchPatch {
  readonly command: readonly string[] | null;
  readonly url: string | undefined;
  readonly cwd: string | undefined;
  readonly env: readonly Setting[];
  readonly headers: readonly Setting[];
  readonly unsetEnv: readonly string[];
  readonly unsetHeaders: readonly string[];
  readonly require: readonly string[];
  readonly unsetRequire: readonly string[];
}

export interface Place {
  /** Whether folders of this machine mean nothing where the command runs. */
  readonly isElsewhere: boolean;
}

/** The whole launch after the update. A setting without a value keeps the stored one. */
export function patchedLaunch(server: McpServer, patch: LaunchPatch, { isElsewhere }: Place): LaunchInput {
  const stored = server.launch;
  if (stored === null) throw new Error('the backend hides a launch from an operator');
  const [command, ...args] = patch.command ?? [];
  if (patch.url !== undefined || (command === undefined && stored.url !== null)) {
    refuse(server, { values: [...patch.env, ...patch.unsetEnv], flags: '--env and --unset-env', isFor: 'a command' });
    refuse(server, { values: patch.cwd === undefined ? [] : [patch.cwd], flags: '--cwd', isFor: 'a command' });
    const { headers: given, unsetHeaders: unset } = patch;
    const headers = merged(stored.headers, { given, unset, what: 'header', keyOf: (name) => name.toLowerCase() });
    return { url: patch.url ?? stored.url, headers, settings: declared(stored, patch, 'headers') };
  }
  const values = [...patch.headers, ...patch.unsetHeaders];
  refuse(server, { values, flags: '--header and --unset-header', isFor: 'a URL' });
  const { env: given, unsetEnv: unset } = patch;
  return {
    command: command ?? stored.command,
    args: command === undefined ? stored.args : args,
    cwd: patch.cwd === undefined ? stored.cwd : folderOf(patch.cwd, isElsewhere),
    env: merged(stored.env, { given, unset, what: 'variable', keyOf: (name) => name }),
    settings: declared(stored, patch, 'env'),
  };
}

/** Null keeps those of the MCP server. */
function declared(stored: Launch, patch: LaunchPatch, field: SettingsField): LaunchInput['settings'] {
  const required = requiredNames(patch.require, field);
  if (required.length + patch.unsetRequire.length === 0) return null;
  return declaredAfter({
    field,
    declared: declaredIn(stored, field),
    stored,
    given: patch[field],
    required,
    unset: patch.unsetRequire,
  });
}

/** The names of the visible fields of a launch that differ from the present ones. */
export function changedParts({ launch: before }: McpServer, after: LaunchInput): readonly string[] {
  const parts = (['command', 'args', 'cwd', 'url'] as const).filter(
    (part) => textOf(after[part]) !== textOf(before?.[part]),
  );
  const field = after.url == null ? 'env' : 'headers';
  const kept = before === null ? [] : declaredIn(before, field);
  const isSame = isDeepStrictEqual(before?.settings.map(namesOnly), (after.settings ?? kept).map(namesOnly));
  return isSame ? parts : [...parts, 'settings'];
}

/** What the command line can change of a declaration. */
function namesOnly({ name, required }: SettingDeclaration) {
  return { name, required };
}

function textOf(value: string | readonly string[] | null | undefined): string {
  return value == null || value.length === 0 ? '' : JSON.stringify(value);
}

interface Merge {
  readonly given: readonly Setting[];
  readonly unset: readonly string[];
  readonly what: 'variable' | 'header';
  /** Equal for names that mean the same. */
  readonly keyOf: (name: string) => string;
}

function merged(stored: readonly { readonly name: string }[], { given, unset, what, keyOf }: Merge): Setting[] {
  const names = new Set(stored.map(({ name }) => keyOf(name)));
  const [unknown] = unset.filter((name) => !names.has(keyOf(name)));
  if (unknown !== undefined) {
    throw new SvcError('invalid_input', `There is no ${what} "${unknown}" to remove.`, {
      hint: names.size === 0 ? `It has no ${what}s.` : `It has: ${[...names].join(', ')}.`,
    });
  }
  const replaced = new Set([...unset, ...given.map(({ name }) => name)].map(keyOf));
  const kept = stored.filter(({ name }) => !replaced.has(keyOf(name))).map(({ name }) => ({ name }));
  return [...kept, ...given];
}

interface Misplaced {
  readonly values: readonly unknown[];
  readonly flags: string;
  readonly isFor: string;
}

function refuse({ name }: McpServer, { values, flags, isFor }: Misplaced): void {
  if (values.length === 0) return;
  const other = isFor === 'a URL' ? 'a command' : 'a URL';
  throw new SvcError(
    'invalid_input',
    `${flags} ${flags.includes(' and ') ? 'are' : 'is'} for ${isFor}, and ${name} has ${other}.`,
    {
      hint: `Show it: svc server show ${name}`,
    },
  );
}
