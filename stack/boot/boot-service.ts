import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { askProgram } from '../machine/ask-program.ts';
import { readDefinition } from '../settings/check.ts';
import { writeWhole } from '../state/durable-file.ts';
import { makeFolder } from '../state/folder.ts';
import type { Installation } from '../state/installation.ts';
import { keepInManifest, readManifest, recordCreated } from '../state/manifest.ts';
import { type BootPlan, launchdPlistOf, systemdUnitOf } from './unit.ts';

export interface BootOptions {
  readonly installation: Installation;
  readonly env: EnvRecord;
  /** For all users of the machine, which root may install. */
  readonly isSystem: boolean;
  readonly script: string;
}

/** A service of the machine that starts a platform. */
export interface BootService {
  readonly unit: string;
  readonly file: string;
  readonly text: string;
  readonly isSystem: boolean;
}

const systemDir = '/etc/systemd/system';
const isMac = process.platform === 'darwin';

/** The service of an installation, as it would be written. Two installations have two, by their ids. */
export function bootServiceOf({ installation, env, isSystem, script }: BootOptions): BootService {
  const { id, name } = readDefinition(installation.definitionFile);
  const unit = unitOf(id);
  const { uid, gid } = statSync(installation.dir);
  const owner = isSystem ? { uid, gid } : null;
  const { PATH: path = '' } = env;
  const plan: BootPlan = { name, dir: installation.dir, node: process.execPath, script, path, owner };
  const text = isMac ? launchdPlistOf(unit, plan) : systemdUnitOf(plan);
  return { unit, file: fileOf(unit, isSystem, env), text, isSystem };
}

/** Writes and enables the service. Run again, it renews it. The platform that runs stays as it is. */
export async function installBootService(
  { installation, env }: Pick<BootOptions, 'installation' | 'env'>,
  service: BootService,
) {
  const { unit, file, text, isSystem } = service;
  requireRoot(service);
  const manage = managerOf(isSystem, env);
  // Asked before anything is written.
  await manage('reload');
  // Recorded first, so that a killed command leaves nothing that svc destroy does not know.
  recordCreated(installation, [{ kind: 'unit', path: file }]);
  makeFolder(dirname(file));
  writeWhole(file, text);
  chmodSync(file, 0o644);
  await manage('reload');
  await manage('enable', isMac ? file : unit);
}

/**
 * Refuses a service of the machine to other users, with the commands that root runs. Root itself does not work in a
 * folder of another user.
 */
export function requireRoot(
  { unit, file, isSystem }: Pick<BootService, 'unit' | 'file' | 'isSystem'>,
  isRoot = process.geteuid?.() === 0,
): void {
  if (!isSystem || isRoot) return;
  const start = isMac ? `sudo launchctl bootstrap system ${file}` : `sudo systemctl enable --now ${unit}`;
  throw new SvcError('forbidden', `Only root may write "${file}".`, {
    hint: `Let root write and start what you print:\n  svc service install --system --print | sudo tee ${file} && ${start}`,
  });
}

/** Removes the services of an installation. Returns their files. `isTolerant`: the manager of services may be away. */
export async function removeBootServices(
  installation: Installation,
  env: EnvRecord,
  { isTolerant = false } = {},
): Promise<readonly string[]> {
  const { id } = readDefinition(installation.definitionFile);
  const removed: string[] = [];
  for (const isSystem of [false, true]) {
    const file = fileOf(unitOf(id), isSystem, env);
    // Only a file of this id, whatever the manifest says.
    if (!bootFilesOf(installation).includes(file)) {
      if (isSystem && !isTolerant) refuseWrittenByRoot(unitOf(id), file);
      continue;
    }
    const manage = managerOf(isSystem, env);
    const ignore = (error: unknown) => {
      if (!isTolerant) throw error;
    };
    await manage('disable', isMac ? file : unitOf(id)).catch(ignore);
    rmSync(file, { force: true });
    await manage('reload').catch(ignore);
    keepInManifest(installation, ({ kind, path }) => kind !== 'unit' || path !== file);
    removed.push(file);
  }
  return removed;
}

/** Root wrote what the owner printed, so the manifest does not have it. */
export function refuseWrittenByRoot(unit: string, file: string): void {
  if (!existsSync(file)) return;
  const stop = isMac ? `sudo launchctl bootout system ${file}` : `sudo systemctl disable --now ${unit}`;
  throw new SvcError('forbidden', `Only root may remove "${file}".`, {
    hint: `Stop the service and remove its file:\n  ${stop} && sudo rm ${file}`,
  });
}

export function bootFilesOf(installation: Installation): readonly string[] {
  return readManifest(installation).flatMap(({ kind, path }) => (kind === 'unit' ? [path] : []));
}

/** The command that restarts a platform which its service runs; null for an installation without a service. */
export function restartByService(installation: Installation): string | null {
  const [file] = bootFilesOf(installation);
  if (file === undefined) return null;
  const unit = basename(file);
  if (isMac) return `launchctl kickstart -k gui/${process.getuid?.() ?? ''}/${unit.replace(/\.plist$/, '')}`;
  return `systemctl ${file.startsWith(systemDir) ? '' : '--user '}restart ${unit}`;
}

/** Whether services of this user start without a login. Null where the machine does not say, or needs nothing. */
export async function lingers(env: EnvRecord): Promise<boolean | null> {
  if (isMac) return null;
  const user = String(process.getuid?.() ?? '');
  const { failed, stdout } = await askProgram('loginctl', ['show-user', user, '--property=Linger'], { timeoutMs, env });
  // A user who is not logged in and does not linger is unknown to loginctl.
  return failed ? false : stdout.trim() === 'Linger=yes';
}

function unitOf(id: string): string {
  return isMac ? `svc.${id}` : `svc-${id}.service`;
}

function fileOf(unit: string, isSystem: boolean, { HOME = '', XDG_CONFIG_HOME }: EnvRecord): string {
  if (isMac) return join(isSystem ? '/Library/LaunchDaemons' : join(HOME, 'Library/LaunchAgents'), `${unit}.plist`);
  if (isSystem) return join(systemDir, unit);
  return join(XDG_CONFIG_HOME || join(HOME, '.config'), 'systemd/user', unit);
}

type Work = 'reload' | 'enable' | 'disable';

const timeoutMs = 20_000;

/** Asks the manager of services: systemd, or launchd, which needs no reload. */
function managerOf(isSystem: boolean, env: EnvRecord) {
  return async (work: Work, what?: string): Promise<void> => {
    if (isMac && work === 'reload') return;
    const [program, ...args] = isMac ? launchctl(isSystem, work) : systemctl(isSystem, work);
    const words = [...args, ...(what === undefined ? [] : [what])];
    const { failed, stderr } = await askProgram(program, words, { timeoutMs, env });
    if (!failed) return;
    const why = stderr.trim().split('\n')[0] || 'it is not installed, or did not answer';
    throw new SvcError('unavailable', `"${[program, ...words].join(' ')}" failed: ${why}.`, {
      hint: isSystem
        ? 'Run the command as root. On a machine without systemd: svc service install --print shows the unit.'
        : 'A service of this user needs a session of systemd. For the whole machine: svc service install --system',
    });
  };
}

function systemctl(isSystem: boolean, work: Work): readonly [string, ...string[]] {
  const scope = isSystem ? '--system' : '--user';
  return ['systemctl', scope, work === 'reload' ? 'daemon-reload' : work];
}

function launchctl(isSystem: boolean, work: Work): readonly [string, ...string[]] {
  const domain = isSystem ? 'system' : `gui/${process.getuid?.() ?? ''}`;
  return ['launchctl', work === 'disable' ? 'bootout' : 'bootstrap', domain];
}
