import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { quotedPath } from '../explain-exit.ts';
import { authorityPaths, programPaths } from './machine-paths.ts';
import { findReal, isWithin, realEvenIfMissing } from './view.ts';

/** The system: programs, their settings, and the state of its services. */
const system: readonly string[] = [
  ...['/proc', '/sys', '/dev', '/run', '/usr', '/etc', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/boot'],
  ...['/nix', '/snap', '/var/lib', '/var/spool', '/var/cache', '/var/log', '/var/mail', '/var/backups', '/var/run'],
];

/** The running program. An operator may start it again as another user. */
const ownPackage = path.dirname(fileURLToPath(new URL('../../../../package.json', import.meta.url)));

export interface GuardedPaths {
  /** The platform's own paths as the stack names them, with the homes of all MCP servers. */
  readonly platform: readonly string[];
  /** Variables of the runtime: its PATH and its certificate authorities. */
  readonly inherited: Readonly<Record<string, string>>;
}

/**
 * Why a sandbox may not write to this folder, or null if it may. Refused: a folder that equals, contains or is part of
 * the system, the platform, an installation, or a program that the platform runs. Refused too: a home, or its hidden
 * folders. `folder` is a real path.
 */
export async function whyNeverWritable(folder: string, { platform, inherited }: GuardedPaths): Promise<string | null> {
  return (
    (await whyTouching(folder, system, 'belongs to the system')) ??
    (await whyHome(folder)) ??
    (await whyInstallation(folder)) ??
    (await whyTouching(folder, platform, 'belongs to the platform')) ??
    (await whyTouching(folder, [ownPackage], 'is the installed package')) ??
    (await whyTouching(folder, await executedPaths(inherited.PATH ?? ''), 'holds programs that the platform runs')) ??
    (await whyTrusted(folder, authorityPaths(inherited)))
  );
}

async function whyTouching(folder: string, paths: readonly string[], what: string): Promise<string | null> {
  const reals = await Promise.all(paths.map(realEvenIfMissing));
  const found = reals.find((one) => isWithin(folder, one) || isWithin(one, folder));
  return found === undefined ? null : `${relationTo(found, folder)}, which ${what}`;
}

function relationTo(found: string, folder: string): string {
  const verb = folder === found ? 'is' : isWithin(folder, found) ? 'is inside' : 'contains';
  return `it ${verb} ${quotedPath(found)}`;
}

/** A certificate inside the folder is mounted again, read-only. */
async function whyTrusted(folder: string, authorities: readonly string[]): Promise<string | null> {
  const reals = await Promise.all(authorities.map(realEvenIfMissing));
  const found = reals.find((one) => isWithin(folder, one));
  return found === undefined ? null : `${relationTo(found, folder)}, with certificates that the platform trusts`;
}

/** Missing folders count too: a sandbox could create them. */
async function executedPaths(searchPath: string): Promise<readonly string[]> {
  const folders = [...searchPath.split(':'), path.dirname(process.execPath)].filter(
    (one) => path.isAbsolute(one) && !isWithin(homedir(), one),
  );
  return [...folders, ...(await programPaths(folders.join(':')))];
}

async function whyHome(folder: string): Promise<string | null> {
  for (const home of await homes()) {
    if (isWithin(home, folder)) return `${relationTo(home, folder)}, which is a home`;
    const [below = ''] = path.relative(home, folder).split('/');
    // Keys, and startup files of this user's programs.
    const isHidden = below.startsWith('.') || below === 'Library';
    if (isWithin(folder, home) && isHidden)
      return `${quotedPath(path.join(home, below))} holds keys or settings of a user`;
  }
  return null;
}

const homeFolders = ['/home', '/Users'];

/** The homes that the system lists, and folders that usually contain homes, for users of another machine. */
async function homes(): Promise<ReadonlySet<string>> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const listed = users.split('\n').flatMap((line) => line.split(':')[5] ?? []);
  const usual = await Promise.all(
    homeFolders.map(async (above) => (await readdir(above).catch(() => [])).map((name) => path.join(above, name))),
  );
  const all = ['/root', homedir(), ...homeFolders, ...listed, ...usual.flat()].filter((one) => path.isAbsolute(one));
  return new Set(await Promise.all(all.map(realEvenIfMissing)));
}

/** How deep installations are searched below a folder, and in how many folders. */
const depthMax = 3;
const foldersMax = 2000;

async function whyInstallation(folder: string): Promise<string | null> {
  for (let at = folder; at !== '/'; at = path.dirname(at)) {
    if (await isInstallation(at)) return `it lies in the installation ${quotedPath(at)}`;
  }
  let level: readonly string[] = [folder];
  for (let depth = 0, seen = 0; depth < depthMax && seen < foldersMax; depth++) {
    const below = (await Promise.all(level.slice(0, foldersMax - seen).map(foldersIn))).flat();
    seen += level.length;
    for (const one of below.slice(0, foldersMax)) {
      if (await isInstallation(one)) return `it holds the installation ${quotedPath(one)}`;
    }
    level = below;
  }
  return null;
}

async function isInstallation(folder: string): Promise<boolean> {
  const parts = await Promise.all(['svc.yaml', 'secrets'].map((name) => findReal(path.join(folder, name))));
  return parts.every((one) => one !== null);
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) =>
    entry.isDirectory() && entry.name !== 'node_modules' ? [path.join(folder, entry.name)] : [],
  );
}
