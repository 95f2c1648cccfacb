import { z } from 'zod';
import { type Launch, launch as launchParser } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { type Author, authors } from '../../contracts/sandbox.ts';
import { Secret } from '../../contracts/secret.ts';
import { type Changes, differences } from '../activity/record-activity.ts';
import type { Node } from '../graph/graph.ts';
import type { Secrets } from '../secrets/secrets.ts';

/** A launch with its author, as stored in the graph. */
export interface KeptLaunch {
  readonly launch: Launch;
  readonly setBy: Author;
}

/** A launch for owners and admins: names of settings, never their values. */
export interface LaunchView {
  readonly command: string | null;
  readonly args: readonly string[] | null;
  readonly cwd: string | null;
  readonly url: string | null;
  readonly envNames: readonly string[];
  readonly headerNames: readonly string[];
  readonly fingerprint: string;
  readonly setBy: Author;
}

/**
 * The activity record of a launch: that it changed, its author, and the names of its settings; never a value, an
 * argument or an address.
 */
export function launchChanges(kept: KeptLaunch | null, { launch: after, setBy }: KeptLaunch): Changes {
  const before = kept?.launch ?? null;
  const was = partsOf(before);
  const is = partsOf(after);
  const changed = (['command', 'args', 'cwd', 'url', 'settings'] as const).filter((part) => was[part] !== is[part]);
  const names = { from: settingNames(before), to: settingNames(after) };
  const renamed = JSON.stringify(names.from) !== JSON.stringify(names.to);
  return {
    ...Object.fromEntries(changed.map((part) => [part, part === 'settings' && renamed ? names : ('changed' as const)])),
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
  if (launch === null) return [];
  return namesOf(launch.kind === 'child' ? launch.env : launch.headers);
}

/** The stored field `launch` of an MCP server. The author is encrypted with it, so that neither can change alone. */
export function encryptLaunch(secrets: Secrets, id: McpServerId, { launch, setBy }: KeptLaunch): string {
  return secrets.encrypt(new Secret(JSON.stringify({ ...launch, setBy })), placeOf(id));
}

export function decryptLaunch(secrets: Secrets, server: Pick<Node<'mcpServer'>, 'id' | 'launch'>): KeptLaunch {
  const kept: unknown = JSON.parse(secrets.decrypt(server.launch, placeOf(server.id)).reveal());
  return { launch: launchParser.parse(kept), setBy: authorship.parse(kept).setBy };
}

/** Launches of versions without an author count as the operator's. */
const authorship = z.object({ setBy: z.enum(authors).default('operator') });

/** Equal for equal launches, their secrets included. */
export function fingerprintOf(secrets: Secrets, launch: Launch): string {
  return secrets.fingerprint(canonical(launch));
}

export function viewOf(secrets: Secrets, { launch, setBy }: KeptLaunch): LaunchView {
  const fingerprint = fingerprintOf(secrets, launch);
  if (launch.kind === 'child') {
    const { command, args, cwd, env } = launch;
    return { command, args, cwd, url: null, envNames: namesOf(env), headerNames: [], fingerprint, setBy };
  }
  const { url, headers } = launch;
  return { command: null, args: null, cwd: null, url, envNames: [], headerNames: namesOf(headers), fingerprint, setBy };
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
