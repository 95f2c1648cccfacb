import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type Docker from 'dockerode';
import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { randomText } from '../../../services/contracts/ids.ts';
import { ownVersion } from '../../machine/version.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Installation } from '../../state/installation.ts';
import { keepInManifest, readManifest } from '../../state/manifest.ts';
import { tolerate } from './daemon.ts';
import { findRegistryLogin } from './registry-login.ts';

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
  const { base } = definition.images;
  const service = serviceImageOn(base);
  const images: Record<string, string> = { [service]: await ensureServiceImage(service, base, options) };
  for (const { program } of parts) {
    if (program.kind === 'service') continue;
    const name = definition.images[program.image];
    images[name] ??= await ensureImage(name, `images.${program.image}`, options);
  }
  return images;
}

export async function findImage(docker: Docker, name: string): Promise<string | null> {
  return (await docker.getImage(name).inspect().catch(tolerate(404)))?.Id ?? null;
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
  return (await docker.getImage(name).inspect()).Id;
}

async function ensureServiceImage(name: string, base: string, images: Images): Promise<string> {
  const { docker, onNotice } = images;
  const present = await findImage(docker, name);
  if (present !== null) return present;
  await ensureImage(base, 'images.base', images);
  onNotice(`Building ${name} on ${base} …`);
  const build = randomText(16);
  const buildargs = { BASE: base, BUILD: build };
  const made = { t: name, dockerfile: 'dist/templates/Dockerfile', buildargs, forcerm: true };
  await carryOut(images, {
    failure: 'The service image could not be built',
    hint: 'images.base in svc.yaml must contain Node 24 or newer, npm and a shell.',
    begin: (abortSignal) => docker.buildImage(serviceSources, { ...made, abortSignal }),
  });
  // The large intermediate images: its own, and those of builds that were killed. Another svc may build at the same time.
  for (const which of [{ label: [`svc.build=${build}`] }, { label: ['svc.stage=whole'], until: ['1h'] }]) {
    // 409: another prune runs, and the next build removes them.
    await docker.pruneImages({ filters: { dangling: ['true'], ...which } }).catch(tolerate(409));
  }
  return (await docker.getImage(name).inspect()).Id;
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
    const follow = promisify(docker.modem.followProgress.bind(docker.modem));
    const lines: readonly { readonly error?: string }[] = await follow(progress);
    const failed = lines.findLast(({ error }) => error !== undefined);
    if (failed !== undefined) throw new Error(failed.error);
  } catch (error) {
    if (signal.aborted) throw error;
    const why = late.aborted ? `it was not done within ${minutesMax} minutes` : wordsOf(error);
    const repair = isDiskFull(error) ? makeRoom : hint;
    throw new SvcError('unavailable', `${failure}: ${why}.`, { hint: repair, cause: error });
  }
}

/** The folder of this package, and what of it goes into the service image. */
const serviceSources = {
  context: dirname(fileURLToPath(new URL('../../../package.json', import.meta.url))),
  src: ['package.json', 'oclif.manifest.json', 'dist'],
};
const dockerfile = fileURLToPath(new URL('../../../templates/Dockerfile', import.meta.url));
const repository = 'svc-platform:';

export function isServiceImage(name: string): boolean {
  return name.startsWith(repository);
}

/** The tag contains the version and a hash of all sources, so that a new image is built exactly when one of them changes. */
export function serviceImageOn(base: string): string {
  const { context, src } = serviceSources;
  const hash = createHash('sha256').update(`${base}\0`).update(readFileSync(dockerfile));
  for (const file of src.flatMap((source) => filesIn(context, source))) {
    hash
      .update(`${relative(context, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return `${repository}${ownVersion()}-${hash.digest('hex').slice(0, 12)}`;
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

/** Removes earlier images of the services, 200 MB each. The next upgrade retries one that is in use. */
export async function removeFormerImages(
  docker: Docker,
  installation: Installation,
  present: readonly string[],
): Promise<void> {
  const former = readManifest(installation)
    .filter(({ kind, path }) => kind === 'image' && isServiceImage(path) && !present.includes(path))
    .map(({ path }) => path);
  const gone = new Set<string>();
  for (const name of former) {
    const removal = docker.getImage(name).remove().catch(tolerate(404));
    // The platform runs by now: what keeps an image from being removed is no reason for svc up to fail.
    await removal.then(
      () => gone.add(name),
      () => undefined,
    );
  }
  if (gone.size > 0) keepInManifest(installation, ({ kind, path }) => kind !== 'image' || !gone.has(path));
}
