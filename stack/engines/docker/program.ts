import { join } from 'node:path';
import { natsConfiguration } from '../../bus/nats-configuration.ts';
import { caddyfile } from '../../front/caddyfile.ts';
import { alphaConfiguration, alphaMemoryMb, zeroConfiguration } from '../../graph/dgraph-configuration.ts';
import { postureAt, versionOfImage } from '../../graph/dgraph-program.ts';
import type { Part } from '../../part.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Facts } from './facts.ts';
import type { GivenFile } from './given-files.ts';
import { givenDir } from './places-inside.ts';

/** What a container runs, and what that takes. */
export interface Program {
  readonly image: string;
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly texts: readonly GivenFile[];
  /** Asks, in the container, whether what answers there is ready. */
  readonly check: (url: string) => readonly string[];
  readonly capabilities: readonly string[];
  readonly processesMax: number;
  readonly tmpfs: string;
}

/** The image that runs a service as it is, by its name in svc.yaml; null for the services of ours, which have one that is built. */
export function ownImageOf(service: Part['service']): Exclude<keyof Definition['images'], 'base'> | null {
  switch (service) {
    case 'nats':
    case 'caddy':
      return service;
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return 'dgraph';
    default:
      return null;
  }
}

/** Where what is built of this package lies in the image of the services. */
export const dist = '/svc/dist';
/** Both official images are Alpine's, which has it. */
const askWithWget = (url: string) => ['wget', '-q', '-O', '/dev/null', url];
/** Dgraph's is Ubuntu's, with it. */
const askWithCurl = (url: string) => ['curl', '-sS', '-f', '-m', '4', '-o', '/dev/null', url];
const tmpfsOf = (sizeMb: number, flags = 'noexec,') => `rw,${flags}nosuid,nodev,size=${sizeMb}m,mode=1777`;
/** What a program that is not an MCP server gets at most. */
const plain = { texts: [], capabilities: [], processesMax: 128, tmpfs: tmpfsOf(64) } as const;
const utc = { TZ: 'UTC' } as const;

export function programOf({ service, variables }: Part, facts: Facts, { images }: Definition): Program {
  const text = (name: string, content: string): GivenFile => ({ name, content: { text: content } });
  const values = { ...variables, ...facts.places };
  switch (service) {
    case 'nats':
      return {
        ...plain,
        image: images.nats,
        entrypoint: ['nats-server', '-c', join(givenDir, 'nats.conf')],
        env: utc,
        texts: [text('nats.conf', natsConfiguration(values))],
        check: askWithWget,
      };
    case 'caddy':
      return {
        ...plain,
        image: images.caddy,
        entrypoint: ['caddy', 'run', '--config', join(givenDir, 'Caddyfile'), '--adapter', 'caddyfile'],
        // It keeps below its home what it was last told.
        env: { ...utc, HOME: '/tmp', XDG_CONFIG_HOME: '/tmp', XDG_DATA_HOME: '/tmp' },
        texts: [text('Caddyfile', caddyfile(variables))],
        check: askWithWget,
        // The file of the official image asks for it, and the kernel starts no file that asks for what can't be had. It gets no further:
        // without new privileges nobody has it.
        capabilities: ['NET_BIND_SERVICE'],
      };
    case 'dgraph-zero':
      return {
        ...dgraphNode,
        image: images.dgraph,
        entrypoint: ['dgraph', 'zero', '--config', join(givenDir, 'dgraph-zero.yaml')],
        env: amongNames,
        texts: [text('dgraph-zero.yaml', zeroConfiguration(values))],
      };
    case 'dgraph-alpha': {
      const configuration = alphaConfiguration({ ...values, ANONYMOUS: postureAt(versionOfImage(images.dgraph)) });
      return {
        ...dgraphNode,
        image: images.dgraph,
        entrypoint: ['dgraph', 'alpha', '--config', join(givenDir, 'dgraph-alpha.yaml')],
        env: { ...amongNames, GOMEMLIMIT: `${alphaMemoryMb(Number(variables.CACHE_MB))}MiB` },
        texts: [text('dgraph-alpha.yaml', configuration)],
      };
    }
    default: {
      const check = (url: string) => ['node', `${dist}/stack/engines/docker/check-ready/main.js`, url];
      const image = facts.serviceImage;
      const own = { ...plain, image, entrypoint: ['node', `${dist}/services/${service}/main.js`], check };
      if (service !== 'runtime') return { ...own, env: variables };
      // MCP servers are many, are started from what was unpacked, and find a home below its volume.
      return { ...own, env: variables, processesMax: 1024, tmpfs: tmpfsOf(256, 'exec,') };
    }
  }
}

/** With each name gRPC would ask for a text that nobody has: Docker passes that on to servers that its network does not lead to, for ten seconds. */
const amongNames = { ...utc, GRPC_ENABLE_TXT_SERVICE_CONFIG: 'false' } as const;
/** Its files are read by threads of their own. */
const dgraphNode = { ...plain, processesMax: 512, check: askWithCurl } as const;
