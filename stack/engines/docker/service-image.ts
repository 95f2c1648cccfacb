import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { ownVersion } from '../../machine/version.ts';
import type { Installation } from '../../state/installation.ts';
import { keepInManifest, readManifest } from '../../state/manifest.ts';

/** The sources of the service image. */
export interface ServiceImage {
  readonly name: string;
  /** The folder of this package, and the files of it that go into the image. */
  readonly context: string;
  readonly sources: readonly string[];
  /** Relative to the folder. */
  readonly dockerfile: string;
  readonly base: string;
}

const packageFile = fileURLToPath(new URL('../../../package.json', import.meta.url));
const dockerfile = fileURLToPath(new URL('../../../templates/Dockerfile', import.meta.url));
const repository = 'svc-platform:';
const sources = ['package.json', 'oclif.manifest.json', 'dist'];

/** The tag contains the version and a hash of all sources, so that a new image is built exactly when one of them changes. */
export function serviceImageOn(base: string): ServiceImage {
  const context = dirname(packageFile);
  const hash = createHash('sha256').update(`${base}\0`).update(readFileSync(dockerfile));
  for (const file of sources.flatMap((source) => filesIn(context, source))) {
    hash
      .update(`${relative(context, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  const name = `${repository}${ownVersion()}-${hash.digest('hex').slice(0, 12)}`;
  return { name, context, sources, dockerfile: 'dist/templates/Dockerfile', base };
}

function filesIn(context: string, source: string): readonly string[] {
  const path = join(context, source);
  if (!existsSync(path)) {
    throw new SvcError('not_found', `"${path}" is missing, and the service image needs it.`, {
      hint: 'Install the package anew; in a clone of its repository: npm run build',
    });
  }
  if (source !== 'dist') return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Removes the images of the services that this installation was built before, 200 MB each. Docker keeps an image that a container uses, and the
 * next upgrade tries again. Images of others stay: the operator may use them for something else.
 */
export async function removeFormerImages(
  docker: Docker,
  installation: Installation,
  present: readonly string[],
): Promise<void> {
  const former = readManifest(installation)
    .filter(({ kind, path }) => kind === 'image' && path.startsWith(repository) && !present.includes(path))
    .map(({ path }) => path);
  const gone = new Set<string>();
  for (const name of former) if (await isRemoved(docker, name)) gone.add(name);
  if (gone.size > 0) keepInManifest(installation, ({ kind, path }) => kind !== 'image' || !gone.has(path));
}

/** The platform runs by now: what keeps an image from being removed is no reason for svc up to fail. */
async function isRemoved(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).remove();
    return true;
  } catch (error) {
    return statusOf(error) === 404;
  }
}
