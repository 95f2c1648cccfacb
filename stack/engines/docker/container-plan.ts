import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { ContainerCreateOptions } from 'dockerode';
import { natsConfiguration } from '../../bus/nats-configuration.ts';
import type { Definition } from '../../definition/definition.ts';
import { caddyfile } from '../../front/caddyfile.ts';
import type { Installation } from '../../installation.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import type { Part } from '../../part.ts';
import { inStartOrder } from '../../parts.ts';
import {
  dataDir,
  givenDir,
  insideName,
  outside,
  type Published,
  publishedOf,
  readyUrlInside,
} from './part-in-container.ts';

/** What a container is started with that Docker has to be asked for first. */
export interface Facts {
  /** As whom everything runs: `uid:gid`, in the container. */
  readonly user: string;
  /** The image of the services, by name. */
  readonly serviceImage: string;
  /** Ids of images by their names. */
  readonly imageIds: Readonly<Record<string, string>>;
  /** A hash of what is in a file that a part is given. */
  readonly fingerprintOf: (file: string) => string;
  /** What NATS knows the platform by. */
  readonly busKeys: Readonly<Record<string, string>>;
}

/** A file that a part is given, beside the container: its text, or the file of this machine that it is a copy of. */
export interface GivenFile {
  readonly name: string;
  readonly content: { readonly text: string } | { readonly copyOf: string };
}

/** Everything about one container that is decided before Docker is asked for anything. */
export interface ContainerPlan {
  readonly part: Part;
  readonly image: string;
  /** Null for what keeps nothing. */
  readonly volume: string | null;
  readonly given: readonly GivenFile[];
  /** What answers, inside the container, whether it is ready. */
  readonly check: readonly string[];
  readonly options: ContainerCreateOptions & { readonly name: string };
}

export interface DockerPlan {
  readonly network: string;
  readonly volumes: readonly string[];
  /** Each after those that it needs. */
  readonly containers: readonly ContainerPlan[];
}

export const labels = { installation: 'svc.installation', part: 'svc.part', hash: 'svc.config-hash' } as const;

/** All that is created in Docker for an installation begins with this. */
export function prefixOf({ id }: Definition): string {
  return `svc-${id}`;
}

/** What Docker shall have, as exact objects of its interface. */
export function dockerPlanOf(plan: Plan, facts: Facts): DockerPlan {
  const containers = inStartOrder(plan.parts).map((part) => containerPlanOf(part, plan, facts));
  const volumes = containers.flatMap(({ volume }) => (volume === null ? [] : [volume]));
  return { network: prefixOf(plan.definition), volumes, containers };
}

/** Where the files that a part is given lie on this machine. */
export function givenDirOf({ stateDir }: Installation, part: string): string {
  return join(stateDir, 'containers', part);
}

function containerPlanOf(part: Part, plan: Plan, facts: Facts): ContainerPlan {
  const { definition, installation } = plan;
  const program = programOf(part, facts, definition);
  const name = `${prefixOf(definition)}-${part.name}`;
  const volume = keepsData(part) ? name : null;
  const given = [...program.texts, ...filesOf(part)];
  const check = program.check(readyUrlInside(part, definition));
  const published = publishedOf(part, definition, plan.ports);
  const allowed = part.service === 'runtime' ? definition.runtime.allowedPaths : [];
  const network = prefixOf(definition);
  const options = {
    name,
    Image: program.image,
    Hostname: part.name,
    User: facts.user,
    Env: Object.entries(program.env).map(([variable, value]) => `${variable}=${value}`),
    Entrypoint: [...program.entrypoint],
    Cmd: [],
    Healthcheck: { Test: ['CMD', ...check], ...health },
    StopTimeout: stopSeconds,
    ...(published.length === 0 ? {} : { ExposedPorts: byPort(published, () => ({})) }),
    HostConfig: {
      Binds: [
        // Without a copy of what the image has there: with it, an empty volume would be root's again.
        ...(volume === null ? [] : [`${volume}:${dataDir}:nocopy`]),
        ...(given.length === 0 ? [] : [`${givenDirOf(installation, part.name)}:${givenDir}:ro,Z`]),
        ...allowed.map((path) => `${path}:${path}:ro`),
      ],
      NetworkMode: network,
      PortBindings: byPort(published, ({ host, port }) => [{ HostIp: host, HostPort: String(port) }]),
      RestartPolicy: { Name: 'unless-stopped' as const, MaximumRetryCount: 0 },
      // Nobody in a container can change what it runs, or become more than it is.
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': program.tmpfs },
      CapDrop: ['ALL'],
      CapAdd: [...program.capabilities],
      SecurityOpt: ['no-new-privileges'],
      Memory: memoryMaxMbOf(part, definition) * 1024 * 1024,
      PidsLimit: program.processesMax,
      LogConfig: {
        Type: 'json-file',
        Config: { 'max-size': `${definition.logs.fileSizeMaxMb}m`, 'max-file': String(definition.logs.filesKept + 1) },
      },
      // Takes leave of processes that their parents left: those of MCP servers, most of all.
      Init: true,
    },
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [part.name] } } },
  };
  const imageId = facts.imageIds[program.image] ?? '';
  const prints = given.map(({ name: file, content }) => [file, printOf(content, facts)]);
  const Labels = {
    [labels.installation]: definition.id,
    [labels.part]: part.name,
    [labels.hash]: hashOf({ options, imageId, prints }),
  };
  return { part, image: program.image, volume, given, check, options: { ...options, Labels } };
}

const seconds = 1e9;
/** How often Docker looks; `svc` asks by itself when it wants to know. */
const health = { Interval: 15 * seconds, Timeout: 5 * seconds, Retries: 3, StartPeriod: 60 * seconds };
/** A service lets go of what is under way within its own time; this is for one that does not. */
const stopSeconds = 10;

function byPort<Value>(published: readonly Published[], bind: (one: Published) => Value): Record<string, Value> {
  return Object.fromEntries(published.map((one) => [`${one.containerPort}/tcp`, bind(one)]));
}

interface Program {
  readonly image: string;
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly texts: readonly GivenFile[];
  readonly check: (url: string) => readonly string[];
  readonly capabilities: readonly string[];
  readonly processesMax: number;
  readonly tmpfs: string;
}

const dist = '/svc/dist';
/** Both official images are Alpine's, which has it. */
const askWithWget = (url: string) => ['wget', '-q', '-O', '/dev/null', url];
const tmpfsOf = (sizeMb: number, flags = 'noexec,') => `rw,${flags}nosuid,nodev,size=${sizeMb}m,mode=1777`;
const plain = { texts: [], capabilities: [], processesMax: 128, tmpfs: tmpfsOf(64) } as const;

function programOf({ service, variables }: Part, { serviceImage, busKeys }: Facts, { images }: Definition): Program {
  switch (service) {
    case 'nats':
      return {
        ...plain,
        image: images.nats,
        entrypoint: ['nats-server', '-c', join(givenDir, 'nats.conf')],
        env: { TZ: 'UTC' },
        texts: [{ name: 'nats.conf', content: { text: natsConfiguration({ ...variables, ...busKeys }) } }],
        check: askWithWget,
      };
    case 'caddy':
      return {
        ...plain,
        image: images.caddy,
        entrypoint: ['caddy', 'run', '--config', join(givenDir, 'Caddyfile'), '--adapter', 'caddyfile'],
        // It keeps below its home what it was last told.
        env: { TZ: 'UTC', HOME: '/tmp', XDG_CONFIG_HOME: '/tmp', XDG_DATA_HOME: '/tmp' },
        texts: [{ name: 'Caddyfile', content: { text: caddyfile(variables) } }],
        check: askWithWget,
        // The file of the official image asks for it, and the kernel starts no file that asks for what can't be had. It gets no further:
        // without new privileges nobody has it.
        capabilities: ['NET_BIND_SERVICE'],
      };
    case 'dgraph-zero':
    case 'dgraph-alpha':
      throw outside(service);
    default: {
      const check = (url: string) => ['node', `${dist}/stack/engines/docker/check-ready/main.js`, url];
      const own = { ...plain, image: serviceImage, entrypoint: ['node', `${dist}/services/${service}/main.js`], check };
      if (service !== 'runtime') return { ...own, env: variables };
      // MCP servers are many, are started from what was unpacked, and find a home below its volume.
      return { ...own, env: variables, processesMax: 1024, tmpfs: tmpfsOf(256, 'exec,') };
    }
  }
}

function keepsData({ service }: Part): boolean {
  return service === 'backend' || service === 'runtime' || service === 'nats';
}

function memoryMaxMbOf({ service }: Part, { limits }: Definition): number {
  if (service === 'dgraph-zero' || service === 'dgraph-alpha') throw outside(service);
  return limits.memoryMaxMb[service];
}

function filesOf({ secrets }: Part): readonly GivenFile[] {
  return secrets.map((file) => ({ name: basename(insideName(file, secrets)), content: { copyOf: file } }));
}

function printOf(content: GivenFile['content'], { fingerprintOf }: Facts): string {
  return 'text' in content ? hashOf(content.text) : fingerprintOf(content.copyOf);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
