import { execFile, execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { findProgram } from '../../../machine/find-program.ts';
import { checkDefinition } from '../../../settings/check.ts';
import { findImage } from '../images.ts';

/** The default image in svc.yaml, which operators use too. */
const { dgraph: name } = checkDefinition('id: abcdef0123456789\n', 'svc.yaml').images;

/** Programs of the official image that the tests run. */
const programs = ['dgraph', 'curl', 'df', 'timeout', 'sh', 'cat', 'ls'] as const;

/**
 * Whether the daemon has the image of Dgraph. A missing image is built from the programs on the PATH and their
 * libraries, at the paths of the official image.
 */
export async function haveDgraphImage(host: string | null): Promise<boolean> {
  if (host === null) return false;
  const docker = new Docker({ socketPath: host.slice('unix://'.length), host: undefined, protocol: 'http' });
  if ((await findImage(docker, name)) !== null) return true;
  const found = programs.flatMap((program) => findProgram(program, process.env.PATH) ?? []);
  if (found.length < programs.length) return false;
  await importImage(host, found);
  return true;
}

async function importImage(host: string, found: readonly string[]): Promise<void> {
  const all = found.map((path) => ({ path: realpathSync(path), name: basename(path) }));
  const libraries = new Set(all.flatMap(({ path }) => librariesOf(path)));
  const places = all.map(({ path, name }) => `--transform=s,^${path.slice(1)}$,usr/local/bin/${name},`);
  const files = [...all.map(({ path }) => path), ...libraries].map((path) => path.slice(1));
  // The mount point /tmp. If the image lacks it, Docker creates it as root, from the second start on.
  const words = [...places, ...files, '--no-recursion', 'tmp'].map((word) => `'${word}'`);
  const tar = `tar -C / -ch --owner=0 --group=0 ${words.join(' ')}`;
  const script = `${tar} | docker --host '${host}' import - '${name}'`;
  await promisify(execFile)('bash', ['-o', 'pipefail', '-c', script], { timeout: importTimeoutMs });
}

const importTimeoutMs = 60_000;

/** A static program has no libraries. */
function librariesOf(program: string): readonly string[] {
  try {
    return execFileSync('ldd', [program], { encoding: 'utf8', stdio: 'pipe' }).match(/\/\S+/g) ?? [];
  } catch {
    return [];
  }
}
