import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { bootFilesOf, removeBootServices } from '../boot/boot-service.ts';
import type { Stopping } from '../engines/engine.ts';
import { isCode } from '../machine/is-code.ts';
import { isGeneratedSecret } from '../secrets/ensure-folders.ts';
import { readDefinition } from '../settings/check.ts';
import { refuseCopy } from '../state/find-original.ts';
import { ensurePrivateFolder } from '../state/folder.ts';
import { type Installation, ownFolders } from '../state/installation.ts';
import { forgetInstallation } from '../state/known-installations.ts';
import { acquireLock } from '../state/lock.ts';
import { type ManifestEntry, readManifest } from '../state/manifest.ts';
import { stopEverything } from './down.ts';

/** What `destroy` removes, and what it leaves, as people find them. */
export interface Destruction {
  readonly id: string;
  readonly name: string;
  readonly goes: readonly string[];
  readonly stays: readonly string[];
}

/** Reads the manifest and the folder. Changes nothing. Refuses a copy, whose manifest is that of the original. */
export function planDestruction(installation: Installation): Destruction {
  refuseCopy(installation);
  const { id, name } = readDefinition(installation.definitionFile);
  const { goes, stays } = sortPaths(installation);
  const docker = dockerEntries(installation).map(({ kind, path }) => `${kind} ${path} of Docker`);
  const gone = goes.map((path) => (ownFolders.has(path) ? `${path}/ with everything in it` : path));
  return { id, name, goes: [...docker, ...bootFilesOf(installation), ...gone], stays };
}

export interface Destroying extends Stopping {
  readonly env: EnvRecord;
  /** Asked with the plan, after the lock is held and before anything changes. */
  readonly agree: (plan: Destruction) => Promise<void>;
}

/**
 * Removes what the manifest lists. svc.yaml goes last and the manifest shortly before it: the next call of a killed command finds the
 * installation and goes on.
 */
export async function destroy({ agree, env, ...stopping }: Destroying): Promise<Destruction> {
  const { installation } = stopping;
  const { dir, stateDir, secretsDir, definitionFile } = installation;
  ensurePrivateFolder(stateDir);
  using lock = acquireLock(installation, 'command');
  const plan = planDestruction(installation);
  await agree(plan);
  await stopEverything(stopping);
  if (dockerEntries(installation).length > 0) {
    const { removeFromDocker } = await import('../engines/docker/remove-all.ts');
    await removeFromDocker(installation, { id: plan.id, entries: dockerEntries(installation), env });
  }
  await removeBootServices(installation, env, { isTolerant: true });
  const { goes } = sortPaths(installation);
  for (const path of goes.filter((one) => one !== 'state' && one !== 'svc.yaml')) remove(join(dir, path));
  removeIfEmpty(secretsDir);
  lock.release();
  remove(stateDir);
  forgetInstallation(plan.id, env);
  remove(definitionFile);
  removeIfEmpty(dir);
  return plan;
}

interface Paths {
  readonly goes: readonly string[];
  readonly stays: readonly string[];
}

/** Paths relative to the folder. Links stay, because their targets were not created by svc. */
function sortPaths(installation: Installation): Paths {
  const { dir, secretsDir } = installation;
  const listed = new Set(
    readManifest(installation)
      .filter(isPath)
      .map(({ path }) => path),
  );
  // The command itself has made state/, and a killed one has removed the manifest already.
  for (const path of ['state', 'svc.yaml']) listed.add(path);
  const secrets = namesIn(secretsDir).map((name) => join(basename(secretsDir), name));
  const top = namesIn(dir).filter((name) => name !== basename(secretsDir) || secrets.length === 0);
  const isOwnSecret = (path: string) => /\.draft$/.test(path) || (listed.has(path) && isGeneratedSecret(path));
  // It keeps the secrets of a person out of git.
  const ignored = 'secrets/.gitignore';
  const areOwn = secrets.every((path) => path === ignored || isOwnSecret(path));
  const isOwn = (path: string) => {
    if (path === ignored) return areOwn;
    return path.startsWith('secrets/') ? isOwnSecret(path) : listed.has(path);
  };
  const isLink = (path: string) => lstatSync(join(dir, path)).isSymbolicLink();
  const all = [...top, ...(isLinkedFolder(secretsDir) ? ['secrets'] : secrets)];
  const goes = all.filter((path) => isOwn(path) && !isLink(path));
  return { goes, stays: all.filter((path) => !goes.includes(path)) };
}

function isLinkedFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isPath({ kind }: ManifestEntry): boolean {
  return kind === 'file' || kind === 'folder';
}

function dockerEntries(installation: Installation): readonly ManifestEntry[] {
  return readManifest(installation).filter(({ kind }) => kind === 'network' || kind === 'volume' || kind === 'image');
}

function namesIn(dir: string): readonly string[] {
  return lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(dir).sort() : [];
}

function remove(path: string): void {
  if (isLinkedFolder(path)) return;
  rmSync(path, { recursive: true, force: true });
}

function removeIfEmpty(dir: string): void {
  try {
    if (!isLinkedFolder(dir)) rmdirSync(dir);
  } catch (error) {
    // Something of others is in it, or it is not ours to remove.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EACCES', 'EPERM', 'EBUSY'].some((code) => isCode(error, code))) throw error;
  }
}
