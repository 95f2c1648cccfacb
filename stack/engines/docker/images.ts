import type Docker from 'dockerode';
import { isDiskFull, makeRoom, statusOf, wordsOf } from '../../../services/contracts/docker.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Plan } from '../../plan/plan.ts';
import { tolerate } from './daemon.ts';
import { foreignImagesOf } from './program.ts';
import { findRegistryLogin } from './registry-login.ts';
import { type ServiceImage, serviceImageOn } from './service-image.ts';

export interface Images {
  readonly docker: Docker;
  /** Logins at registries are found through it. */
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** The ids of all images of a plan, by name. Pulls and builds the missing ones. */
export async function ensurePlanImages(
  { definition, parts }: Pick<Plan, 'definition' | 'parts'>,
  options: Images,
): Promise<Readonly<Record<string, string>>> {
  const service = serviceImageOn(definition.images.base);
  const images: Record<string, string> = { [service.name]: await ensureServiceImage(service, options) };
  for (const name of foreignImagesOf(parts)) {
    images[definition.images[name]] = await ensureImage(definition.images[name], `images.${name}`, options);
  }
  return images;
}

/** The id of an image; null where the daemon does not have it. */
export async function findImage(docker: Docker, name: string): Promise<string | null> {
  try {
    return (await docker.getImage(name).inspect()).Id;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Pulls the image where it is missing, and returns its id. `field` is the field of svc.yaml that names it. */
export async function ensureImage(name: string, field: string, images: Images): Promise<string> {
  const { docker, env, onNotice } = images;
  const present = await findImage(docker, name);
  if (present !== null) return present;
  const login = await findRegistryLogin(name, env);
  onNotice(`Fetching ${name} …`);
  await carryOut(images, {
    failure: `The image "${name}" is missing and could not be pulled`,
    hint: `Check ${field} in svc.yaml and the access of Docker to the registry. For a private image: docker login. Without internet: docker load.`,
    // Not docker.pull: it would write the login into the address of the request.
    begin: (abortSignal) => docker.createImage(login ?? undefined, { fromImage: name, abortSignal }),
  });
  return (await findImage(docker, name)) ?? '';
}

/** Builds the service image where it is missing. */
async function ensureServiceImage(image: ServiceImage, images: Images): Promise<string> {
  const { docker, onNotice } = images;
  const present = await findImage(docker, image.name);
  if (present !== null) return present;
  await ensureImage(image.base, 'images.base', images);
  onNotice(`Building ${image.name} on ${image.base} …`);
  const { name: t, dockerfile, base: BASE, context, sources } = image;
  const made = { t, dockerfile, buildargs: { BASE }, forcerm: true };
  await carryOut(images, {
    failure: 'The service image could not be built',
    hint: 'images.base in svc.yaml must contain Node 24 or newer, npm and a shell.',
    begin: (abortSignal) => docker.buildImage({ context, src: [...sources] }, { ...made, abortSignal }),
  });
  // The large intermediate images. 409: another prune runs, and the next build removes them.
  const filters = { dangling: ['true'], label: ['svc.stage=whole'] };
  await docker.pruneImages({ filters }).catch((error: unknown) => tolerate(error, [409]));
  return (await findImage(docker, image.name)) ?? '';
}

/** For a distant registry on a slow line. */
const minutesMax = 20;

interface ImageWork {
  readonly begin: (abortSignal: AbortSignal) => Promise<NodeJS.ReadableStream>;
  /** The beginning of the error, and its repair. */
  readonly failure: string;
  readonly hint: string;
}

/** Waits for the end of the daemon's work. An error is one of its progress lines. */
async function carryOut({ docker, signal }: Images, { begin, failure, hint }: ImageWork): Promise<void> {
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
    if (signal.aborted) throw error;
    const why = late.aborted ? `it was not done within ${minutesMax} minutes` : wordsOf(error);
    const repair = isDiskFull(error) ? makeRoom : hint;
    throw new SvcError('unavailable', `${failure}: ${why}.`, { hint: repair, cause: error });
  }
}

interface ProgressLine {
  readonly error?: string;
}
