import { createHash } from 'node:crypto';
import type { ContainerCreateOptions, NetworkCreateOptions } from 'dockerode';
import { drainMs } from '../../../services/contracts/drain.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import type { Part } from '../../part.ts';
import { inStartOrder } from '../../parts.ts';
import type { Facts } from './facts.ts';
import { filesGiven, type GivenFile, givenDirOf } from './given-files.ts';
import { hiddenIn } from './hidden-folders.ts';
import { containerNameOf, labels } from './names.ts';
import { networkPlansOf, networksOf } from './network.ts';
import { readyUrlInside } from './part-in-container.ts';
import { dataDir, givenDir } from './places-inside.ts';
import { programOf } from './program.ts';
import { type Published, publishedOf } from './published.ts';
import { watching } from './silence.ts';
import { volumeOf } from './volume-of.ts';

/** Everything about one container that is decided before Docker is asked for anything. */
export interface ContainerPlan {
  readonly part: Part;
  readonly image: string;
  /** Names of all that it is in. */
  readonly networks: readonly string[];
  /** Null for what keeps nothing. */
  readonly volume: string | null;
  readonly given: readonly GivenFile[];
  /** What answers, inside the container, whether it is ready. */
  readonly check: readonly string[];
  readonly options: ContainerCreateOptions & { readonly name: string };
}

export interface DockerPlan {
  readonly networks: readonly NetworkCreateOptions[];
  readonly volumes: readonly string[];
  /** Each after those that it needs. */
  readonly containers: readonly ContainerPlan[];
}

/** What Docker shall have, as exact objects of its interface. */
export function dockerPlanOf(plan: Plan, facts: Facts): DockerPlan {
  const containers = inStartOrder(plan.parts).map((part) => containerPlanOf(part, plan, facts));
  const volumes = containers.flatMap(({ volume }) => (volume === null ? [] : [volume]));
  return { networks: networkPlansOf(plan.definition), volumes, containers };
}

function containerPlanOf(part: Part, plan: Plan, facts: Facts): ContainerPlan {
  const { definition, installation } = plan;
  const program = programOf(part, facts, definition);
  const name = containerNameOf(part.name, definition);
  const volume = volumeOf(part, definition);
  const given = [...program.texts, ...filesGiven(part.secrets)];
  const check = program.check(readyUrlInside(part, definition));
  const published = publishedOf(part, definition, plan.ports);
  const allowed = part.service === 'runtime' ? definition.runtime.allowedPaths : [];
  const networks = networksOf(part, definition);
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
      Tmpfs: { '/tmp': program.tmpfs, ...hiddenIn(allowed, installation) },
      CapDrop: ['ALL'],
      CapAdd: [...program.capabilities],
      SecurityOpt: ['no-new-privileges'],
      Memory: definition.limits.memoryMaxMb[part.service] * 1024 * 1024,
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
    [labels.folder]: installation.dir,
    [labels.part]: part.name,
    [labels.hash]: hashOf({ options, networks, imageId, prints, folder: installation.dir }),
    ...peersOf(part, plan, facts),
  };
  return { part, image: program.image, networks, volume, given, check, options: { ...options, Labels } };
}

/** Nodes of NATS take each other for one of theirs by a secret, and form a cluster of as many as each of them knows. */
function peersOf({ service, variables }: Part, { parts }: Plan, { places }: Facts): Record<string, string> {
  if (variables.ROUTES === undefined) return {};
  const nodes = parts.filter((part) => part.service === service).map(({ name }) => name);
  return { [labels.peers]: hashOf([nodes, places.ROUTE_SECRET]) };
}

const seconds = 1e9;
/** How often Docker looks; `svc` asks by itself when it wants to know. */
const health = { Interval: 15 * seconds, Timeout: 10 * seconds, Retries: 3, StartPeriod: 60 * seconds };
/** A service keeps to its own time, with what its MCP servers and its last words take; this is for one that does not. */
const stopSeconds = drainMs / 1000 + 5;

/** As Docker's interface names ports. */
function byPort<Value>(published: readonly Published[], give: (one: Published) => Value): Record<string, Value> {
  return Object.fromEntries(published.map((one) => [`${one.containerPort}/tcp`, give(one)]));
}

function printOf(content: GivenFile['content'], { fingerprintOf }: Facts): string {
  return 'text' in content ? hashOf(content.text) : fingerprintOf(content.copyOf);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
