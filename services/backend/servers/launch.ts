import { relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Changes } from '../../contracts/activity-changes.ts';
import { type Launch, launch as launchParser } from '../../contracts/bus/messages.ts';
import { type DeclaredSetting, hasValue, missingSettings } from '../../contracts/declared-settings.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { type Author, authors } from '../../contracts/sandbox.ts';
import { Secret } from '../../contracts/secret.ts';
import { differences } from '../activity/record-activity.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { Secrets, WithSecrets } from '../secrets/secrets.ts';

/** A launch with its author, as stored in the graph. */
export interface KeptLaunch {
  readonly launch: Launch;
  /** Names of settings whose values may be shown, in order. All others are secret. */
  readonly plain: readonly string[];
  /** Variables or headers that people fill in, as they are declared beside it. */
  readonly declared: readonly DeclaredSetting[];
  readonly setBy: Author;
}

/** A variable or header. The value of a secret one is null. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string | null;
}

/** A declared setting, and whether it has a value. */
export type FilledSetting = DeclaredSetting & { readonly isSet: boolean };

/** A launch for owners and admins, without the values of secret settings. */
export interface LaunchView {
  readonly command: string | null;
  readonly args: readonly string[] | null;
  readonly cwd: string | null;
  readonly url: string | null;
  readonly envNames: readonly string[];
  readonly headerNames: readonly string[];
  readonly env: readonly ShownSetting[];
  readonly headers: readonly ShownSetting[];
  readonly settings: readonly FilledSetting[];
  readonly fingerprint: string;
  readonly setBy: Author;
}

/**
 * The activity record of a launch: that it changed, its author, and the names of its settings and of those with another
 * value; never a value, an argument or an address.
 */
export function launchChanges(kept: KeptLaunch | null, { launch: after, plain, declared, setBy }: KeptLaunch): Changes {
  const before = kept?.launch ?? null;
  const was = partsOf(before);
  const is = partsOf(after);
  const changed = (['command', 'args', 'cwd', 'url', 'settings'] as const).filter((part) => was[part] !== is[part]);
  const names = { from: settingNames(before), to: settingNames(after) };
  const renamed = JSON.stringify(names.from) !== JSON.stringify(names.to);
  return {
    ...Object.fromEntries(changed.map((part) => [part, part === 'settings' && renamed ? names : ('changed' as const)])),
    ...differences({}, { newValues: newValues(before, after) }),
    ...differences({ plainSettings: kept?.plain ?? [] }, { plainSettings: plain }),
    ...differences(
      { requiredSettings: requiredNames(kept?.declared ?? []) },
      { requiredSettings: requiredNames(declared) },
    ),
    ...(isDeepStrictEqual(kept?.declared ?? [], declared) ? {} : { declaredSettings: 'changed' as const }),
    ...differences({ setBy: kept?.setBy ?? null }, { setBy }),
  };
}

function requiredNames(declared: readonly DeclaredSetting[]): readonly string[] {
  return declared.filter(({ required }) => required).map(({ name }) => name);
}

/** The required settings without a value: `env.NAME` or `headers.name`. The MCP server is not started without them. */
export function missingIn({ launch, declared }: Pick<KeptLaunch, 'launch' | 'declared'>): readonly string[] {
  const field = launch.kind === 'child' ? 'env' : 'headers';
  return missingSettings(declared, settingsOf(launch)).map((name) => `${field}.${name}`);
}

/** Texts to compare, never to show; an absent one is empty. */
function partsOf(launch: Launch | null): Readonly<Record<'command' | 'args' | 'cwd' | 'url' | 'settings', string>> {
  const none = { command: '', args: '', cwd: '', url: '', settings: '' };
  if (launch === null) return none;
  if (launch.kind === 'http') return { ...none, url: launch.url, settings: textOf(entriesOf(launch.headers)) };
  const { command, args, cwd, env } = launch;
  return { ...none, command, args: textOf(args), cwd: cwd ?? '', settings: textOf(entriesOf(env)) };
}

function textOf(list: readonly unknown[]): string {
  return list.length === 0 ? '' : JSON.stringify(list);
}

/** Names of environment variables or headers. */
function settingNames(launch: Launch | null): readonly string[] {
  return launch === null ? [] : namesOf(settingsOf(launch));
}

/** Names of settings of both launches whose values differ; undefined without such. */
function newValues(before: Launch | null, after: Launch): readonly string[] | undefined {
  if (before === null || before.kind !== after.kind) return undefined;
  const was = new Map(Object.entries(settingsOf(before)));
  const is = settingsOf(after);
  const names = namesOf(is).filter((name) => was.has(name) && was.get(name) !== is[name]);
  return names.length === 0 ? undefined : names;
}

export function settingsOf(launch: Launch): Readonly<Record<string, string>> {
  return launch.kind === 'child' ? launch.env : launch.headers;
}

/** What the stored form of a launch depends on. */
type Keeper = WithSecrets & WithConfig<'INSTALLATION_DIR'>;

/** The stored field `launch` of an MCP server. The author is encrypted with it, so that neither can change alone. */
export function encryptLaunch({ secrets, config }: Keeper, id: McpServerId, { launch, ...rest }: KeptLaunch): string {
  const stored = withFolder(launch, (cwd) => toStored(cwd, config.INSTALLATION_DIR));
  return secrets.encrypt(new Secret(JSON.stringify({ ...stored, ...rest })), placeOf(id));
}

export function decryptLaunch(
  { secrets, config }: Keeper,
  server: Pick<Node<'mcpServer'>, 'id' | 'launch'>,
): KeptLaunch {
  const kept: unknown = JSON.parse(secrets.decrypt(server.launch, placeOf(server.id)).reveal());
  const launch = withFolder(launchParser.parse(kept), (cwd) => fromStored(cwd, config.INSTALLATION_DIR));
  return { launch, ...beside.parse(kept) };
}

function withFolder(launch: Launch, change: (cwd: string) => string): Launch {
  return launch.kind === 'http' || launch.cwd === null ? launch : { ...launch, cwd: change(launch.cwd) };
}

/** A folder in the installation is stored relative to it, so that it moves with the installation. */
function toStored(cwd: string, installation: string | undefined): string {
  if (installation === undefined) return cwd;
  const way = relative(installation, cwd);
  return way === '..' || way.startsWith('../') ? cwd : `./${way}`;
}

/** Every other folder is absolute. */
function fromStored(cwd: string, installation: string | undefined): string {
  return installation === undefined || !cwd.startsWith('./') ? cwd : resolve(installation, cwd);
}

/** Launches of older versions have no author, who counts as the operator, only secret settings and no declared ones. */
const beside = z.object({
  plain: z.array(z.string()).readonly().default([]),
  declared: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        secret: z.boolean(),
        required: z.boolean(),
      }),
    )
    .readonly()
    .default([]),
  setBy: z.enum(authors).default('operator'),
});

/** Equal for equal launches: their secrets, which settings are plain, and the declared ones included. */
export function fingerprintOf(secrets: Secrets, kept: Omit<KeptLaunch, 'setBy'>): string {
  return secrets.fingerprint(canonical(kept));
}

export function viewOf(secrets: Secrets, kept: KeptLaunch): LaunchView {
  const { launch, plain, declared, setBy } = kept;
  const values = settingsOf(launch);
  const settings = declared.map((setting) => ({ ...setting, isSet: hasValue(values, setting.name) }));
  const shown = Object.entries(values)
    .map(([name, value]) => ({ name, value: plain.includes(name) ? value : null }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const names = settingNames(launch);
  const view = { settings, fingerprint: fingerprintOf(secrets, kept), setBy };
  if (launch.kind === 'child') {
    const { command, args, cwd } = launch;
    return { ...view, command, args, cwd, url: null, envNames: names, headerNames: [], env: shown, headers: [] };
  }
  const none = { command: null, args: null, cwd: null };
  return { ...view, ...none, url: launch.url, envNames: [], headerNames: names, env: [], headers: shown };
}

function namesOf(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(settings).sort();
}

/** Fields and settings in one order, so that equal launches are equal texts. */
function canonical({ launch, plain, declared }: Omit<KeptLaunch, 'setBy'>): Secret {
  const ordered: unknown[] =
    launch.kind === 'child'
      ? ['child', launch.command, launch.args, launch.cwd, entriesOf(launch.env)]
      : ['http', launch.url, entriesOf(launch.headers)];
  // A launch with only secret settings, or without declared ones, keeps the fingerprint that older versions gave it.
  if (plain.length > 0 || declared.length > 0) ordered.push(plain);
  if (declared.length > 0) ordered.push(declared.map(entriesOfDeclared));
  return new Secret(JSON.stringify(ordered));
}

function entriesOf(settings: Readonly<Record<string, string>>): readonly (readonly [string, string | undefined])[] {
  return namesOf(settings).map((name) => [name, settings[name]]);
}

function entriesOfDeclared({ name, title, description, secret, required }: DeclaredSetting) {
  return [name, title, description, secret, required];
}

function placeOf(id: McpServerId): { node: string; field: string } {
  return { node: id, field: 'launch' };
}
