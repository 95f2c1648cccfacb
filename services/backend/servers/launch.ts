import { relative, resolve } from 'node:path';
import { z } from 'zod';
import { type Launch, launch as launchParser } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { type Author, authors } from '../../contracts/sandbox.ts';
import { Secret } from '../../contracts/secret.ts';
import { type Changes, differences } from '../activity/record-activity.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { Secrets, WithSecrets } from '../secrets/secrets.ts';

/** A launch with its author, as stored in the graph. */
export interface KeptLaunch {
  readonly launch: Launch;
  /** Names of settings whose values may be shown, in order. All others are secret. */
  readonly plain: readonly string[];
  readonly setBy: Author;
}

/** A variable or header. The value of a secret one is null. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string | null;
}

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
  readonly fingerprint: string;
  readonly setBy: Author;
}

/**
 * The activity record of a launch: that it changed, its author, and the names of its settings and of those with another
 * value; never a value, an argument or an address.
 */
export function launchChanges(kept: KeptLaunch | null, { launch: after, plain, setBy }: KeptLaunch): Changes {
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
    ...differences({ setBy: kept?.setBy ?? null }, { setBy }),
  };
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
export function encryptLaunch(
  { secrets, config }: Keeper,
  id: McpServerId,
  { launch, plain, setBy }: KeptLaunch,
): string {
  const stored = withFolder(launch, (cwd) => toStored(cwd, config.INSTALLATION_DIR));
  return secrets.encrypt(new Secret(JSON.stringify({ ...stored, plain, setBy })), placeOf(id));
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

/** Launches of older versions have no author, who counts as the operator, and only secret settings. */
const beside = z.object({
  plain: z.array(z.string()).readonly().default([]),
  setBy: z.enum(authors).default('operator'),
});

/** Equal for equal launches: their secrets, and which settings are plain, included. */
export function fingerprintOf(secrets: Secrets, { launch, plain }: Pick<KeptLaunch, 'launch' | 'plain'>): string {
  return secrets.fingerprint(canonical(launch, plain));
}

export function viewOf(secrets: Secrets, kept: KeptLaunch): LaunchView {
  const { launch, plain, setBy } = kept;
  const shown = Object.entries(settingsOf(launch))
    .map(([name, value]) => ({ name, value: plain.includes(name) ? value : null }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const names = settingNames(launch);
  const view = { fingerprint: fingerprintOf(secrets, kept), setBy };
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
function canonical(launch: Launch, plain: readonly string[]): Secret {
  const ordered: unknown[] =
    launch.kind === 'child'
      ? ['child', launch.command, launch.args, launch.cwd, entriesOf(launch.env)]
      : ['http', launch.url, entriesOf(launch.headers)];
  // A launch with only secret settings keeps the fingerprint that older versions gave it.
  if (plain.length > 0) ordered.push(plain);
  return new Secret(JSON.stringify(ordered));
}

function entriesOf(settings: Readonly<Record<string, string>>): readonly (readonly [string, string | undefined])[] {
  return namesOf(settings).map((name) => [name, settings[name]]);
}

function placeOf(id: McpServerId): { node: string; field: string } {
  return { node: id, field: 'launch' };
}
