import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { ContainerCreateOptions } from 'dockerode';
import { drainMs } from '../../../services/contracts/drain.ts';
import { versionInImage } from '../../machine/check-program.ts';
import type { ConfigurationFacts, Limits, Part, PublishedPort } from '../../parts/part.ts';
import { inStartOrder } from '../../parts/parts.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Installation } from '../../state/installation.ts';
import { filesGiven, type GivenFile, givenDirOf } from './given-files.ts';
import { watching } from './health-check.ts';
import { containerNameOf, labels, volumeOf } from './names.ts';
import { networkOf } from './network.ts';
import { dataDir, dist, givenDir } from './site.ts';

/** Everything about one container that is decided before Docker is asked for anything. */
export interface ContainerPlan {
  readonly part: Part;
  readonly networks: readonly string[];
  /** Null for a part that keeps no data. */
  readonly volume: string | null;
  readonly given: readonly GivenFile[];
  /** The command inside the container that asks whether the part is ready. */
  readonly check: readonly string[];
  readonly options: ContainerCreateOptions & { readonly name: string; readonly Image: string };
}

/** Facts of the daemon and this machine that the plan of a container depends on. */
export interface Facts extends Omit<ConfigurationFacts, 'version'> {
  /** The user in the containers, as `uid:gid`. */
  readonly user: string;
  /** The name of the service image. */
  readonly serviceImage: string;
  /** The ids of images by name. */
  readonly images: Readonly<Record<string, string>>;
  /** Whether the parts run for one command, without the rest of the platform. Docker restarts none of them then. */
  readonly runsAlone: boolean;
  /** A hash of the content of a file. */
  readonly fingerprintOf: (file: string) => string;
}

/** The containers that Docker's API gets for a plan, in start order. */
export function containerPlansOf(plan: Plan, facts: Facts): readonly ContainerPlan[] {
  return inStartOrder(plan.parts).map((part) => containerPlanOf(part, plan, facts));
}

function containerPlanOf(part: Part, plan: Plan, facts: Facts): ContainerPlan {
  const { definition, installation } = plan;
  const program = programOf(part, facts, definition);
  const name = containerNameOf(part.name, definition);
  const volume = volumeOf(part, definition);
  const { published, sees, limits } = part;
  const given = [...program.configuration, ...filesGiven(part.files)];
  const { check } = program;
  const networks = part.rooms.map((room) => networkOf(room, definition));
  const [network = ''] = networks;
  const options = {
    name,
    Image: program.image,
    Hostname: part.name,
    User: facts.user,
    Env: Object.entries(program.env).map(([variable, value]) => `${variable}=${value}`),
    Entrypoint: [...program.entrypoint],
    Cmd: [],
    Healthcheck: { Test: [...watching(check)], ...health },
    StopTimeout: stopSeconds,
    ...(published.length === 0 ? {} : { ExposedPorts: byPort(published, () => ({})) }),
    HostConfig: {
      Binds: [
        // `nocopy`: otherwise Docker copies the image's folder, and an empty volume belongs to root again.
        ...(volume === null ? [] : [`${volume}:${dataDir}:nocopy`]),
        ...(given.length === 0 ? [] : [`${givenDirOf(installation, part.name)}:${givenDir}:ro,Z`]),
        ...sees.map((path) => `${path}:${path}:ro`),
      ],
      NetworkMode: network,
      PortBindings: byPort(published, ({ host, port }) => [{ HostIp: addressOf(host), HostPort: String(port) }]),
      RestartPolicy: { Name: facts.runsAlone ? ('no' as const) : ('unless-stopped' as const), MaximumRetryCount: 0 },
      // The program cannot change its own files or gain privileges.
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': tmpfsOf(limits), ...hiddenIn(sees, installation) },
      CapDrop: ['ALL'],
      CapAdd: [...limits.capabilities],
      SecurityOpt: ['no-new-privileges'],
      Memory: limits.memoryMaxMb * 1024 * 1024,
      PidsLimit: limits.processesMax,
      LogConfig: {
        Type: 'json-file',
        Config: { 'max-size': `${definition.logs.fileSizeMaxMb}m`, 'max-file': String(definition.logs.filesKept + 1) },
      },
      // The init process reaps orphans, such as those of MCP servers.
      Init: true,
    },
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [part.name] } } },
  };
  // Two installations may build the service image at once, and its name contains the hash of its content.
  const imageId = program.image === facts.serviceImage ? '' : (facts.images[program.image] ?? '');
  const prints = given.map(({ name: file, content }) => [file, printOf(content, facts)]);
  const Labels = {
    [labels.installation]: definition.id,
    [labels.folder]: installation.dir,
    [labels.part]: part.name,
    ...(facts.runsAlone ? { [labels.alone]: 'true' } : {}),
    [labels.hash]: hashOf({ options, networks, imageId, prints, folder: installation.dir }),
  };
  return { part, networks, volume, given, check, options: { ...options, Labels } };
}

/** What runs in the container of a part. `check` is the command inside that asks whether the part is ready. */
function programOf({ program, ready, variables }: Part, facts: Facts, { images }: Definition) {
  if (program.kind === 'service') {
    return {
      image: facts.serviceImage,
      entrypoint: ['node', `${dist}/services/${program.service}/main.js`],
      env: variables,
      configuration: [],
      check: ['node', `${dist}/stack/engines/docker/check-ready/main.js`, ready.url],
    };
  }
  const { command, args, environment, configuration, ask } = program;
  const image = images[program.image];
  const text = configuration.write({ ...facts, version: versionInImage(image) });
  return {
    image,
    entrypoint: [command, ...args(join(givenDir, configuration.name))],
    env: environment,
    configuration: [{ name: configuration.name, content: { text } }],
    check: ask(ready.url),
  };
}

function tmpfsOf({ temporary: { sizeMb, isExecutable } }: Limits): string {
  return `rw,${isExecutable ? 'exec' : 'noexec'},nosuid,nodev,size=${sizeMb}m,mode=1777`;
}

/** Docker publishes on addresses, not on names. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

const seconds = 1e9;
/** How often Docker runs the health check. `svc` asks by itself. */
const health = { Interval: 15 * seconds, Timeout: 10 * seconds, Retries: 3, StartPeriod: 60 * seconds };
/** Services keep their own deadline, which includes their MCP servers and last log lines. This one ends a service that does not. */
const stopSeconds = drainMs / 1000 + 5;

/** Keyed by the names that Docker's API gives ports. */
function byPort<Value>(
  published: readonly PublishedPort[],
  give: (one: PublishedPort) => Value,
): Record<string, Value> {
  return Object.fromEntries(published.map((one) => [`${one.inside}/tcp`, give(one)]));
}

function printOf(content: GivenFile['content'], { fingerprintOf }: Facts): string {
  return 'text' in content ? hashOf(content.text) : fingerprintOf(content.copyOf);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

const emptyFolder = 'ro,noexec,nosuid,nodev,size=4k,mode=555';

/** Covers the platform's own folders with empty ones where MCP servers may read the folder around them. */
export function hiddenIn(
  allowed: readonly string[],
  { secretsDir, dataDir, stateDir, logsDir }: Installation,
): Readonly<Record<string, string>> {
  const own = [secretsDir, dataDir, stateDir, logsDir].map(asItIs);
  const places = allowed.flatMap((path) => {
    const real = asItIs(path);
    const inside = own.filter((folder) => folder.startsWith(real.endsWith(sep) ? real : `${real}${sep}`));
    return inside.map((folder) => join(path, relative(real, folder)));
  });
  return Object.fromEntries(places.map((place) => [place, emptyFolder]));
}

/** Symbolic links are resolved, because a container resolves them differently. */
function asItIs(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
