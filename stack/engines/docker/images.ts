import type Docker from 'dockerode';
import { isDiskFull, makeRoom, statusOf, wordsOf } from '../../../services/contracts/docker.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { findRegistryLogin } from './registry-login.ts';
import type { ServiceImage } from './service-image.ts';

export interface Images {
  readonly docker: Docker;
  /** Logins at registries are found through it. */
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

export interface ImageFacts {
  readonly id: string;
}

/** Null where the daemon does not have the image. */
export async function findImage(docker: Docker, name: string): Promise<ImageFacts | null> {
  try {
    return await getImage(docker, name);
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

async function getImage(docker: Docker, name: string): Promise<ImageFacts> {
  return { id: (await docker.getImage(name).inspect()).Id };
}

/** Pulls the image where it is missing. `field` is the field of svc.yaml that names it. */
export async function ensureImage(name: string, field: string, images: Images): Promise<ImageFacts> {
  const { docker, env, signal, onNotice } = images;
  const present = await findImage(docker, name);
  if (present !== null) return present;
  const login = await findRegistryLogin(name, env);
  onNotice(`Fetching ${name} …`);
  try {
    // Not docker.pull: it would write the login into the address of the request.
    const begin = (abortSignal: AbortSignal) =>
      docker.createImage(login ?? undefined, { fromImage: name, abortSignal });
    await follow(begin, images);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new SvcError('unavailable', `The image "${name}" is missing and could not be pulled: ${wordsOf(error)}.`, {
      hint: isDiskFull(error) ? makeRoom : checkRegistry(field),
      cause: error,
    });
  }
  return getImage(docker, name);
}

function checkRegistry(field: string): string {
  return `Check ${field} in svc.yaml and the access of Docker to the registry. For a private image: docker login. Without internet: docker load.`;
}

/** Builds the service image where it is missing. */
export async function ensureServiceImage(image: ServiceImage, images: Images): Promise<ImageFacts> {
  const { docker, signal, onNotice } = images;
  const present = await findImage(docker, image.name);
  if (present !== null) return present;
  await ensureImage(image.base, 'images.base', images);
  onNotice(`Building ${image.name} on ${image.base} …`);
  try {
    const { name: t, dockerfile, base: BASE } = image;
    const made = { t, dockerfile, buildargs: { BASE }, forcerm: true };
    const begin = (abortSignal: AbortSignal) =>
      docker.buildImage({ context: image.context, src: [...image.sources] }, { ...made, abortSignal });
    await follow(begin, images);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new SvcError('unavailable', `The service image could not be built: ${wordsOf(error)}.`, {
      hint: isDiskFull(error) ? makeRoom : 'images.base in svc.yaml must contain Node 24 or newer, npm and a shell.',
      cause: error,
    });
  }
  await removeStages(docker);
  return getImage(docker, image.name);
}

/** Removes the large intermediate images. 409: another prune runs, and the next build removes them. */
async function removeStages(docker: Docker): Promise<void> {
  const filters = { dangling: ['true'], label: ['svc.stage=whole'] };
  await docker.pruneImages({ filters }).catch((error: unknown) => {
    if (statusOf(error) !== 409) throw error;
  });
}

/** For a distant registry on a slow line. */
const minutesMax = 20;

/** Waits for the end of the daemon's work. An error is one of its progress lines. */
async function follow(
  begin: (abortSignal: AbortSignal) => Promise<NodeJS.ReadableStream>,
  { docker, signal }: Images,
): Promise<void> {
  const late = AbortSignal.timeout(minutesMax * 60_000);
  try {
    const progress = await begin(AbortSignal.any([signal, late]));
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(progress, (broken: Error | null, lines: readonly ProgressLine[]) => {
        const said = lines.findLast(({ error }) => error !== undefined)?.error;
        const failed = broken ?? (said === undefined ? null : new Error(said));
        return failed === null ? resolve() : reject(failed);
      });
    });
  } catch (error) {
    if (!late.aborted) throw error;
    throw new SvcError('timeout', `it was not done within ${minutesMax} minutes`, { cause: error });
  }
}

interface ProgressLine {
  readonly error?: string;
}
