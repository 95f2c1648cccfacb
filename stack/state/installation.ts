import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';

/** One folder with one platform: its choices, secrets, data, state and logs. */
export interface Installation {
  readonly dir: string;
  readonly definitionFile: string;
  readonly secretsDir: string;
  readonly dataDir: string;
  readonly stateDir: string;
  readonly logsDir: string;
}

export interface Whereabouts {
  /** The value of `--dir`. */
  readonly dir?: string | undefined;
  readonly env: EnvRecord;
  readonly cwd: string;
}

/** The result for one file or folder of an installation. */
export interface CreationStep {
  /** Relative to the installation; a folder's ends in a slash. */
  readonly path: string;
  readonly outcome: 'created' | 'kept' | 'repaired';
  readonly detail?: string;
}

const definitionName = 'svc.yaml';
const defaultName = 'svc';

export function findInstallation(where: Whereabouts): Installation | null {
  const dir = namedFolder(where) ?? nearestUpward(where.cwd, holdsDefinition) ?? join(where.cwd, defaultName);
  return holdsDefinition(dir) ? installationIn(dir) : null;
}

/** As `findInstallation`; throws an error that says where it was looked for and how to create one. */
export function getInstallation(where: Whereabouts): Installation {
  const found = findInstallation(where);
  if (found !== null) return found;
  const named = namedFolder(where);
  refuseWrongKind(named ?? join(where.cwd, defaultName), named ?? where.cwd);
  if (named !== undefined) {
    throw new SvcError('not_found', `"${named}" is not an installation: it holds no ${definitionName}.`, {
      hint: holdsDefinition(join(named, defaultName))
        ? `Did you mean "${join(asGiven(where) ?? named, defaultName)}"?`
        : `Create one there: svc init ${named}`,
    });
  }
  throw new SvcError(
    'not_found',
    `No installation was found: neither "${where.cwd}" nor a folder above it holds a ${definitionName}, and there is no ./${defaultName}.`,
    { hint: 'Create one here with svc init, or name its folder with --dir or SVC_DIR. List all: svc status --all' },
  );
}

/** A file in the place of the folder, or a folder in the place of svc.yaml. */
function refuseWrongKind(folder: string, around: string): void {
  if (statSync(folder, noThrow)?.isFile()) {
    throw new SvcError('not_found', `"${folder}" is a file, and an installation is a folder.`, {
      hint:
        basename(folder) === definitionName
          ? 'Name the folder that holds the file.'
          : 'Move that file away, or name another folder with --dir or SVC_DIR.',
    });
  }
  const definition = join(around, definitionName);
  if (statSync(definition, noThrow)?.isDirectory()) {
    throw new SvcError('not_found', `"${definition}" is a folder, and it must be a file.`, {
      hint: 'Move that folder away, and put back the file.',
    });
  }
}

const noThrow = { throwIfNoEntry: false } as const;

/** The folder for a new installation: the named one, else `./svc`. */
export function folderForNew(where: Whereabouts): string {
  return namedFolder(where) ?? join(where.cwd, defaultName);
}

/** Everything in these folders belongs to the platform. In `secrets/`, a person may have files. */
export const ownFolders: ReadonlySet<string> = new Set(['data', 'state', 'logs']);

export function installationIn(dir: string): Installation {
  return {
    dir,
    definitionFile: join(dir, definitionName),
    secretsDir: join(dir, 'secrets'),
    dataDir: join(dir, 'data'),
    stateDir: join(dir, 'state'),
    logsDir: join(dir, 'logs'),
  };
}

/** The installation around this path, or null: a folder with svc.yaml and secrets. */
export function installationAround(path: string): string | null {
  const hasSecrets = (dir: string) => statSync(join(dir, 'secrets'), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return nearestUpward(path, (dir) => hasSecrets(dir) && holdsDefinition(dir));
}

/** The folder for homes of MCP servers. Each of several runtimes has its own, named as its part. */
export function runtimeDirOf({ dataDir }: Installation, part = 'runtime'): string {
  return join(dataDir, part);
}

/** The folder for Node's compiled code, which makes the next start faster. */
export function compileCacheOf({ stateDir }: Installation): string {
  return join(stateDir, 'compile-cache');
}

function namedFolder(where: Whereabouts): string | undefined {
  const named = asGiven(where);
  return named === undefined ? undefined : resolve(where.cwd, named);
}

function asGiven({ dir, env }: Whereabouts): string | undefined {
  return dir ?? (env.SVC_DIR === '' ? undefined : env.SVC_DIR);
}

function nearestUpward(start: string, passes: (dir: string) => boolean): string | null {
  for (let dir = resolve(start); ; dir = dirname(dir)) {
    if (passes(dir)) return dir;
    if (dir === dirname(dir)) return null;
  }
}

function holdsDefinition(dir: string): boolean {
  return statSync(join(dir, definitionName), { throwIfNoEntry: false })?.isFile() ?? false;
}
