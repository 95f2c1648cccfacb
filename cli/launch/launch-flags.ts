import { resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { looksSecret } from '../../services/contracts/secret-words.ts';
import type { SettingsField } from '../../services/contracts/setting-rules.ts';
import { environment } from '../command.ts';
import type { Terminal } from '../output/terminal.ts';
import { askSecret } from '../typed/ask-secret.ts';
import { readSettings } from '../typed/settings-file.ts';
import { secretAsArgument } from './launch-words.ts';

/** Flags of `svc server add` and `svc server update` that describe how an MCP server is started. */
export const launchFlags = {
  url: Flags.string({ summary: 'Address of an MCP server that is reached over HTTP.', helpValue: 'URL' }),
  transport: Flags.string({
    summary: 'Transport of the URL: http or sse. The runtime finds it out by itself.',
    helpValue: 'TRANSPORT',
  }),
  env: Flags.string({
    char: 'e',
    summary: 'Environment variable. NAME alone is a secret, from the environment or a prompt; may be repeated.',
    helpValue: 'NAME[=VALUE]',
    multiple: true,
    multipleNonGreedy: true,
  }),
  header: Flags.string({
    char: 'H',
    summary:
      'Header for the URL. NAME alone is a secret: X-Api-Key comes from the variable X_API_KEY or a prompt; may be repeated.',
    helpValue: 'NAME[: VALUE]',
    multiple: true,
    multipleNonGreedy: true,
  }),
  require: Flags.string({
    summary:
      'Variable, or header of the URL, that the MCP server needs. Without a value, which people also give in the page, it is not started; may be repeated.',
    helpValue: 'NAME',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'variable-file': Flags.string({ summary: 'File with secret NAME=value lines for the command.', helpValue: 'FILE' }),
  'header-file': Flags.string({ summary: 'File with secret Name: value lines for the URL.', helpValue: 'FILE' }),
  'start-timeout': Flags.string({
    summary: 'Seconds for a start, up to 1800; 0: as runtime.startTimeout in svc.yaml.',
    helpValue: 'SECONDS',
  }),
  'call-timeout': Flags.string({
    summary: 'Seconds that a call may be silent, up to 1800; 0: as runtime.callTimeout in svc.yaml.',
    helpValue: 'SECONDS',
  }),
};

const timeoutMax = 1800;

/** The deadlines of the flags, in seconds. Null without the flag. */
export function timeoutsOf(flags: {
  readonly 'start-timeout'?: string | undefined;
  readonly 'call-timeout'?: string | undefined;
}) {
  return {
    startTimeout: secondsOf('--start-timeout', flags['start-timeout']),
    callTimeout: secondsOf('--call-timeout', flags['call-timeout']),
  };
}

function secondsOf(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= timeoutMax) return seconds;
  throw new SvcError('invalid_input', `${flag} must be a whole number from 0 to ${timeoutMax}, not "${text}".`);
}

interface LaunchFlags {
  readonly url?: string | undefined;
  readonly transport?: string | undefined;
  readonly env?: readonly string[] | undefined;
  readonly header?: readonly string[] | undefined;
  readonly 'variable-file'?: string | undefined;
  readonly 'header-file'?: string | undefined;
}

/** A variable or header of the flags. The value of null is asked for. */
interface GivenSetting {
  readonly name: string;
  readonly value: string | null;
  readonly secret: boolean;
}

export interface GivenSettings {
  readonly env: readonly GivenSetting[];
  readonly headers: readonly GivenSetting[];
}

/** A variable or header as the backend takes it. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly secret: boolean;
}

/** The variables and headers of flags and files. Refuses a secret that was typed. */
export async function givenSettings(flags: LaunchFlags): Promise<GivenSettings> {
  const { 'variable-file': variables, 'header-file': headers } = flags;
  return {
    env: [
      ...(flags.env ?? []).map((typed) => parseSetting(typed, kinds.env)),
      ...(variables === undefined ? [] : secret(await readSettings('--variable-file', variables, '='))),
    ],
    headers: [
      ...(flags.header ?? []).map((typed) => parseSetting(typed, kinds.header)),
      ...(headers === undefined ? [] : secret(await readSettings('--header-file', headers, ':'))),
    ],
  };
}

/** The same with every value: from the environment of svc, or typed by a person. */
export async function withValues({ env, headers }: GivenSettings, terminal: Terminal) {
  return {
    env: await valuesOf(env, { kind: kinds.env, terminal }),
    headers: await valuesOf(headers, { kind: kinds.header, terminal }),
  };
}

/** The names of required settings. Refuses what cannot be the name of a variable, or of a header. */
export function requiredNames(typed: readonly string[], field: SettingsField): readonly string[] {
  const { isName, what, flag } = field === 'env' ? kinds.env : kinds.header;
  const wrong = typed.find((name) => !isName.test(name));
  if (wrong === undefined) return typed;
  // A person may have typed a value, which may be a secret.
  throw new SvcError('invalid_input', `--require takes the name of a ${what}, without a value.`, {
    hint: `"${beginning(wrong)}" is not a valid name of a ${what}. A value stands in its own flag: ${flag} NAME`,
  });
}

/** The runtime finds out the transport of a URL. Refuses one that it does not speak, and one without a URL. */
export function checkTransport({ url, transport }: LaunchFlags): void {
  if (transport === undefined) return;
  if (transport !== 'http' && transport !== 'sse') {
    throw new SvcError('invalid_input', `--transport must be http or sse, not "${transport}".`, {
      hint: 'The command of an MCP server stands after --, without --transport.',
    });
  }
  if (url === undefined) throw new SvcError('invalid_input', '--transport is only for --url.');
}

/** A folder of this machine as a full path. An empty one is none. */
export function folderOf(cwd: string, isElsewhere: boolean): string | null {
  if (cwd === '') return null;
  return isElsewhere ? cwd : resolve(cwd);
}

interface Kind {
  readonly flag: '--env' | '--header';
  readonly file: '--variable-file' | '--header-file';
  readonly what: string;
  readonly separator: '=' | ':';
  readonly form: string;
  readonly isName: RegExp;
  /** The variable of svc's environment with the value. */
  readonly variable: (name: string) => string;
}

const kinds = {
  env: {
    flag: '--env',
    file: '--variable-file',
    what: 'variable',
    separator: '=',
    form: 'NAME=VALUE, or NAME for a secret',
    isName: /^[A-Za-z_][A-Za-z0-9_]*$/,
    variable: (name) => name,
  },
  header: {
    flag: '--header',
    file: '--header-file',
    what: 'header',
    separator: ':',
    form: '"NAME: VALUE", or NAME for a secret',
    // RFC 9110 §5.6.2: a token.
    isName: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
    variable: (name) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'),
  },
} as const satisfies Record<string, Kind>;

function parseSetting(typed: string, kind: Kind): GivenSetting {
  const at = typed.indexOf(kind.separator);
  const name = (at === -1 ? typed : typed.slice(0, at)).trim();
  if (!kind.isName.test(name)) {
    // The text may be a secret without its name.
    throw new SvcError('invalid_input', `${kind.flag} takes ${kind.form}.`, {
      hint: `"${beginning(name)}" is not a valid name of a ${kind.what}.`,
    });
  }
  if (at === -1) return { name, value: null, secret: true };
  const value = kind.separator === ':' ? typed.slice(at + 1).trim() : typed.slice(at + 1);
  if (looksSecret(name, value)) throw secretAsArgument(kind.flag, { name });
  return { name, value, secret: false };
}

function beginning(text: string): string {
  return `${text.slice(0, 20)}${text.length > 20 ? '…' : ''}`;
}

function secret(settings: readonly { readonly name: string; readonly value: string }[]): readonly GivenSetting[] {
  return settings.map((setting) => ({ ...setting, secret: true }));
}

async function valuesOf(
  given: readonly GivenSetting[],
  { kind, terminal }: { readonly kind: Kind; readonly terminal: Terminal },
): Promise<readonly Setting[]> {
  const settings: Setting[] = [];
  for (const { name, value, secret } of given) {
    settings.push({ name, secret, value: value ?? (await secretValue(name, { kind, terminal })) });
  }
  return settings;
}

async function secretValue(
  name: string,
  { kind, terminal }: { readonly kind: Kind; readonly terminal: Terminal },
): Promise<string> {
  const variable = kind.variable(name);
  const known = environment[variable] ?? '';
  if (known !== '') return known;
  if (!terminal.interactive) {
    throw new SvcError('invalid_input', `The ${kind.what} ${name} has no value.`, {
      hint: `Set ${variable} in the environment, or write ${name}${kind.separator === ':' ? ': ' : '='}… to a file: ${kind.file} FILE`,
    });
  }
  const typed = await askSecret(`Value of the ${kind.what} ${name}`);
  if (typed !== '') return typed;
  throw new SvcError('invalid_input', `The ${kind.what} ${name} has no value.`, { hint: 'Nothing was changed.' });
}
