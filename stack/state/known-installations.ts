import { constants, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { beginningOf } from '../machine/bounded-file.ts';
import { parseJson } from '../machine/parse-json.ts';
import { removeLeftDrafts, writeWhole } from './durable-file.ts';
import { closeMode, makeFolder } from './folder.ts';

/** The ids that `svc init` generates, and the rule of svc.yaml. */
export const idPattern = /^[a-z0-9]{8,32}$/;

const path = z.string().max(4096).refine(isAbsolute);
const known = z.object({
  id: z.string().regex(idPattern),
  name: z.string().max(63),
  dir: path,
  /** Socket of the Docker that runs its containers; null for an installation of processes. */
  docker: path.nullable(),
});
/** What the list says about an installation. It is a hint: the folder decides. */
export type KnownInstallation = Readonly<z.infer<typeof known>>;

const fileMaxBytes = 16 * 1024;
/** A machine has a few installations. A folder with more files is not read to its end. */
export const listedMax = 500;

/**
 * Notes an installation in the list of this user, one small file each. The list only serves `svc status --all`, so a list that cannot be
 * written is no failure.
 */
export function noteInstallation(installation: KnownInstallation, env: EnvRecord): void {
  try {
    const folder = findList(env);
    if (folder === null) return;
    makeFolder(folder, 0o700);
    closeMode(folder, 0o700);
    removeLeftDrafts(folder);
    const text = JSON.stringify(known.parse(installation), null, 2);
    const file = fileOf(folder, installation.id);
    if (beginningOf(file, fileMaxBytes) !== text) writeWhole(file, text);
  } catch {
    // No home, a read-only disk, a full disk: the installation is only missing in the list.
  }
}

export function forgetInstallation(id: string, env: EnvRecord): void {
  try {
    const folder = findList(env);
    if (folder !== null && idPattern.test(id)) rmSync(fileOf(folder, id), { force: true });
  } catch {
    // The list then names a folder that is gone, and the next `svc status --all` removes it.
  }
}

/** The list of this user. A file that is damaged, or not of this user, is left out. */
export function knownInstallations(env: EnvRecord): readonly KnownInstallation[] {
  const folder = findList(env);
  if (folder === null) return [];
  return namesIn(folder)
    .filter((name) => name.endsWith(ending) && idPattern.test(name.slice(0, -ending.length)))
    .sort()
    .slice(0, listedMax)
    .flatMap((name) => {
      const text = beginningOf(join(folder, name), fileMaxBytes, constants.O_NOFOLLOW);
      const { data } = known.safeParse(parseJson(text));
      return data !== undefined && `${data.id}${ending}` === name ? [data] : [];
    });
}

const ending = '.json';

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}${ending}`);
}

/**
 * The folder of the list, as the XDG Base Directory Specification says; null without one. Under sudo, HOME may be the home of another user,
 * who could have put links there.
 */
function findList({ XDG_STATE_HOME: state = '', HOME: home = '' }: EnvRecord): string | null {
  const base = isAbsolute(state) ? state : home;
  if (!isAbsolute(base) || ownerOf(base) !== process.geteuid?.()) return null;
  return join(base, base === state ? '' : '.local/state', 'svc/installations');
}

/** The owner of a folder, or of the nearest folder around it. */
function ownerOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.uid ?? ownerOf(dirname(path));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
