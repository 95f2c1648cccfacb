import type Docker from 'dockerode';
import { z } from 'zod';
import { isDiskFull, makeRoom, statusOf, wordsOf } from '../../../services/contracts/docker.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { pullFailure } from './pull-failure.ts';
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
    const { Id } = await docker.getImage(name).inspect();
    return { id: Id };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Pulls the image where it is missing. */
export async function ensureImage(name: string, field: string, images: Images): Promise<ImageFacts> {
  const present = await findImage(images.docker, name);
  if (present !== null) return present;
  const login = await findRegistryLogin(name, images.env);
  images.onNotice(`Fetching ${name} …`);
  try {
    // Not docker.pull: it would write the login into the address of the request.
    const begin = (abortSignal: AbortSignal) =>
      images.docker.createImage(login ?? undefined, { fromImage: name, abortSignal });
    await follow(begin, images, percentOf(name, images.onNotice));
  } catch (error) {
    if (images.signal.aborted) throw error;
    throw pullFailure(name, field, error);
  }
  const fetched = await findImage(images.docker, name);
  if (fetched === null) throw new SvcError('internal', `The image "${name}" was pulled, but Docker does not have it.`);
  return fetched;
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
    await follow(begin, images, ({ stream: line = '' }) => {
      if (/^Step \d+\/\d+/.test(line)) onNotice(`  ${line.trim().split('\n')[0]?.slice(0, 100)}`);
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new SvcError('unavailable', `The service image could not be built: ${wordsOf(error)}.`, {
      hint: isDiskFull(error) ? makeRoom : 'images.base in svc.yaml must contain Node 24 or newer, npm and a shell.',
      cause: error,
    });
  }
  await removeStages(docker);
  const built = await findImage(docker, image.name);
  if (built === null)
    throw new SvcError('internal', `The image "${image.name}" was built, but Docker does not have it.`);
  return built;
}

/** Removes the large intermediate images. 409: another prune runs, and the next build removes them. */
async function removeStages(docker: Docker): Promise<void> {
  const filters = { dangling: ['true'], label: ['svc.stage=whole'] };
  await docker.pruneImages({ filters }).catch((error: unknown) => {
    if (statusOf(error) !== 409) throw error;
  });
}

const progressEvent = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).nullish(),
});
type ProgressEvent = z.infer<typeof progressEvent>;

/** For a distant registry on a slow line. */
const minutesMax = 20;

/** Follows the daemon's progress lines to their end. An error is one of these lines. */
async function follow(
  begin: (abortSignal: AbortSignal) => Promise<NodeJS.ReadableStream>,
  { signal }: Images,
  onEvent: (event: ProgressEvent) => void,
): Promise<void> {
  const late = AbortSignal.timeout(minutesMax * 60_000);
  try {
    let rest = '';
    for await (const chunk of await begin(AbortSignal.any([signal, late]))) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) tellLine(line, onEvent);
    }
    tellLine(rest, onEvent);
  } catch (error) {
    if (!late.aborted) throw error;
    throw new SvcError('timeout', `it was not done within ${minutesMax} minutes`, { cause: error });
  }
}

function tellLine(line: string, onEvent: (event: ProgressEvent) => void): void {
  if (line.trim() === '') return;
  const event = progressEvent.safeParse(JSON.parse(line)).data;
  if (event === undefined) return;
  if (event.error !== undefined) throw new Error(event.error);
  onEvent(event);
}

const toldEveryPercent = 20;

/** Reports the progress over all known layers. */
function percentOf(name: string, onNotice: (message: string) => void): (event: ProgressEvent) => void {
  const layers = new Map<string, { readonly current: number; readonly total: number }>();
  let told = 0;
  return ({ id, status, progressDetail }) => {
    const { current, total } = progressDetail ?? {};
    if (status !== 'Downloading' || id === undefined || current === undefined || total === undefined) return;
    layers.set(id, { current, total });
    const all = [...layers.values()];
    const sum = (of: 'current' | 'total') => all.reduce((bytes, layer) => bytes + layer[of], 0);
    const percent = Math.floor((100 * sum('current')) / sum('total') / toldEveryPercent) * toldEveryPercent;
    if (percent <= told) return;
    told = percent;
    onNotice(`  ${name}: ${percent} % of ${(sum('total') / 1e6).toFixed(0)} MB`);
  };
}
