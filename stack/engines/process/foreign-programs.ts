import { join } from 'node:path';
import { busKeysOf, natsConfiguration, routeSecretOf } from '../../bus/nats-configuration.ts';
import { caddyfile } from '../../front/caddyfile.ts';
import { alphaConfiguration, alphaMemoryMb, zeroConfiguration } from '../../graph/dgraph-configuration.ts';
import { postureOf } from '../../graph/dgraph-program.ts';
import type { Installation } from '../../installation.ts';
import type { ForeignService, Part } from '../../part.ts';
import { loopback } from '../../ports/port-wishes.ts';
import { readSecret, type SecretFiles } from '../../secrets.ts';

type Variables = Part['variables'];

/** A program of somebody else's that a part runs as. */
export interface ForeignProgram {
  /** As it lies on the path. */
  readonly name: 'nats-server' | 'caddy' | 'dgraph';
  /** Its configuration, in state/, by the name of the part: written anew by each start, and for nobody else to read. */
  readonly file: (part: string) => string;
  /** What stands in it. `program` is where it lies, for what differs by version. */
  readonly configuration: (given: Configured) => string | Promise<string>;
  readonly args: (file: string) => readonly string[];
  /** All that it knows of an environment. Its lines say the time without the zone. */
  readonly env: (variables: Variables, installation: Installation) => Readonly<Record<string, string>>;
}

export interface Configured {
  readonly variables: Variables;
  readonly secrets: SecretFiles;
  readonly program: string;
}

const utc = { TZ: 'UTC' } as const;

export const foreignPrograms: Readonly<Record<ForeignService, ForeignProgram>> = {
  nats: {
    name: 'nats-server',
    file: (part) => `${part}.conf`,
    configuration: ({ variables, secrets }) =>
      natsConfiguration({ ...variables, ...busKeysOf(secrets), ...routeSecretOf(variables, secrets) }),
    args: (file) => ['-c', file],
    env: () => utc,
  },
  caddy: {
    name: 'caddy',
    file: () => 'Caddyfile',
    configuration: ({ variables }) => caddyfile(variables),
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    // It keeps below its home what it was last told, and a folder for certificates.
    env: (_, { stateDir }) => ({ ...utc, HOME: join(stateDir, 'caddy') }),
  },
  'dgraph-zero': {
    name: 'dgraph',
    file: (part) => `${part}.yaml`,
    configuration: ({ variables, secrets }) =>
      zeroConfiguration({ ...variables, TOKEN: readSecret(secrets.graphToken) }),
    args: (file) => ['zero', '--config', file],
    env: () => utc,
  },
  'dgraph-alpha': {
    name: 'dgraph',
    file: (part) => `${part}.yaml`,
    configuration: async ({ variables, secrets, program }) =>
      alphaConfiguration({
        ...variables,
        TOKEN: readSecret(secrets.graphToken),
        ADMINS: loopback,
        ANONYMOUS: await postureOf(program),
      }),
    args: (file) => ['alpha', '--config', file],
    env: ({ CACHE_MB }) => ({ ...utc, GOMEMLIMIT: `${alphaMemoryMb(Number(CACHE_MB))}MiB` }),
  },
};
