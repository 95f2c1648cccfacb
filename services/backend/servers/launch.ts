import { type Launch, launch as launchParser } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Changes } from '../activity/record-activity.ts';
import type { Node } from '../graph/graph.ts';
import type { Secrets } from '../secrets/secrets.ts';

/** How an MCP server is started, as owner and admin may see it: names of settings, never their values. */
export interface LaunchView {
  readonly command: string | null;
  readonly args: readonly string[] | null;
  readonly cwd: string | null;
  readonly url: string | null;
  readonly envNames: readonly string[];
  readonly headerNames: readonly string[];
  readonly fingerprint: string;
}

/** What an activity record may tell of a launch: that it changed, and the names of its settings, never a value, an argument or an address. */
export function launchChanges(before: Launch | null, after: Launch): Changes {
  const was = partsOf(before);
  const is = partsOf(after);
  const changed = (['command', 'args', 'cwd', 'url', 'settings'] as const).filter((part) => was[part] !== is[part]);
  const names = { from: settingNames(before), to: settingNames(after) };
  const renamed = JSON.stringify(names.from) !== JSON.stringify(names.to);
  return Object.fromEntries(
    changed.map((part) => [part, part === 'settings' && renamed ? names : ('changed' as const)]),
  );
}

/** Texts to compare, never to show; what is not there is empty. */
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
  if (launch === null) return [];
  return namesOf(launch.kind === 'child' ? launch.env : launch.headers);
}

/** The text kept in the field `launch` of an MCP server. */
export function encryptLaunch(secrets: Secrets, id: McpServerId, launch: Launch): string {
  return secrets.encrypt(new Secret(JSON.stringify(launch)), placeOf(id));
}

export function decryptLaunch(secrets: Secrets, server: Pick<Node<'mcpServer'>, 'id' | 'launch'>): Launch {
  return launchParser.parse(JSON.parse(secrets.decrypt(server.launch, placeOf(server.id)).reveal()));
}

/** Equal for equal launches, their secrets included. */
export function fingerprintOf(secrets: Secrets, launch: Launch): string {
  return secrets.fingerprint(canonical(launch));
}

export function viewOf(secrets: Secrets, launch: Launch): LaunchView {
  const fingerprint = fingerprintOf(secrets, launch);
  if (launch.kind === 'child') {
    const { command, args, cwd, env } = launch;
    return { command, args, cwd, url: null, envNames: namesOf(env), headerNames: [], fingerprint };
  }
  const { url, headers } = launch;
  return { command: null, args: null, cwd: null, url, envNames: [], headerNames: namesOf(headers), fingerprint };
}

export function namesOf(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(settings).sort();
}

/** Fields and settings in one order, so that equal launches are equal texts. */
function canonical(launch: Launch): Secret {
  const ordered =
    launch.kind === 'child'
      ? ['child', launch.command, launch.args, launch.cwd, entriesOf(launch.env)]
      : ['http', launch.url, entriesOf(launch.headers)];
  return new Secret(JSON.stringify(ordered));
}

function entriesOf(settings: Readonly<Record<string, string>>): readonly (readonly [string, string | undefined])[] {
  return namesOf(settings).map((name) => [name, settings[name]]);
}

function placeOf(id: McpServerId): { node: string; field: string } {
  return { node: id, field: 'launch' };
}
