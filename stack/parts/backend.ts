import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Addresses } from '../settings/addresses.ts';
import { type Definition, hasOwnGraph } from '../settings/definition.ts';
import { nodesOf } from '../settings/ports.ts';
import { graphServersOf, graphUrlsOf, graphUser } from './dgraph.ts';
import { busPersistence, busRooms, busVariables } from './nats.ts';
import type { Part } from './part.ts';
import { serviceParts } from './service.ts';
import { given, type Setup } from './setup.ts';

export function backendParts(setup: Setup): readonly Part[] {
  const { definition } = setup;
  const graphRoom = hasOwnGraph(definition) ? (['graph'] as const) : [];
  return serviceParts(setup, {
    service: 'backend',
    after: (['nats', 'dgraph-zero', 'dgraph-alpha'] as const).flatMap((kind) => nodesOf(kind, definition)),
    rooms: ['platform', ...busRooms(definition), ...graphRoom],
    variables: (give) => variables(setup, give),
    keeps: () => (definition.graph === 'sqlite' ? ownData : null),
  });
}

const ownData = { folder: '.', volume: 'backend' } as const;

type Give = (file: string) => string;

function variables(setup: Setup, give: Give): Readonly<Record<string, string>> {
  const { installation, definition, addresses, secrets, site } = setup;
  return {
    ...busVariables(setup, give),
    ...busKeys(setup, give),
    ...graphVariables(setup, give),
    // Files are where the graph is: beside its file, or with Dgraph on the bus, which every backend reaches.
    ...(definition.graph === 'sqlite' ? { FILES_DIR: site.dataPathOf(ownData, 'blobs') } : {}),
    INSTALLATION_DIR: installation.dir,
    ENCRYPTION_KEY_FILE: give(secrets.encryptionKey),
    JWT_PRIVATE_KEY_PATH: give(secrets.jwtPrivateKey),
    JWT_PUBLIC_KEY_PATH: give(secrets.jwtPublicKey),
    PUBLIC_BACKEND_URL: addresses.public.backend,
    PUBLIC_FRONTEND_URL: addresses.public.frontend,
    PUBLIC_MCP_URL: addresses.public.mcp,
    CORS_ORIGINS: browserOrigins(definition, addresses).join(','),
    ...given('TRUSTED_PROXIES', definition.trustedProxies.join(',')),
    ...signInProvider(setup, give),
    ...mailProvider(setup, give),
  };
}

/** The graph's address, and the backend's user there. */
function graphVariables(setup: Setup, give: Give): Record<string, string> {
  const { installation, definition, secrets, site } = setup;
  const { graph, graphdb } = definition;
  if (graph === 'sqlite') return { PRIVATE_GRAPHDB_URL: pathToFileURL(site.dataPathOf(ownData, 'graph.sqlite')).href };
  if (hasOwnGraph(definition)) {
    return {
      PRIVATE_GRAPHDB_URL: graphUrlsOf(setup)[0] ?? '',
      ...(site.isPrivate ? {} : { PRIVATE_GRAPHDB_CA_PATH: give(secrets.graphNodeCertificate) }),
      PRIVATE_GRAPHDB_GRPC_URL: graphServersOf(setup).join(','),
      PRIVATE_GRAPHDB_USER: graphUser,
      PRIVATE_GRAPHDB_PASSWORD_FILE: give(secrets.graphPassword),
      PRIVATE_GRAPHDB_TOKEN_FILE: give(secrets.graphToken),
    };
  }
  const { url, grpc, ca, user, token } = graphdb;
  return {
    PRIVATE_GRAPHDB_URL: url,
    ...given('PRIVATE_GRAPHDB_GRPC_URL', grpc === 'auto' ? '' : grpc.join(',')),
    ...(ca === undefined ? {} : { PRIVATE_GRAPHDB_CA_PATH: give(resolve(installation.dir, ca)) }),
    ...(user === undefined
      ? {}
      : { PRIVATE_GRAPHDB_USER: user, PRIVATE_GRAPHDB_PASSWORD_FILE: give(secrets.graphPassword) }),
    ...(token ? { PRIVATE_GRAPHDB_TOKEN_FILE: give(secrets.graphToken) } : {}),
  };
}

/** Only the backend authorizes connections to the bus, so only it gets these keys. */
function busKeys({ definition, secrets }: Setup, give: Give): Record<string, string> {
  if (definition.topology === 'embedded') return {};
  return {
    ...busPersistence(definition),
    BUS_CALLOUT_SEED_FILE: give(secrets.busCalloutSeed),
    BUS_SYSTEM_SEED_FILE: give(secrets.busSystemSeed),
    BUS_ISSUER_SEED_FILE: give(secrets.busIssuerSeed),
    ...given('PUBLIC_BUS_SERVERS', definition.bus.public?.servers.join(',') ?? ''),
  };
}

function browserOrigins({ origins }: Definition, addresses: Addresses): readonly string[] {
  if (origins.browsers !== 'auto') return origins.browsers;
  const own = [addresses.public.frontend, addresses.public.backend, addresses.local.frontend];
  return [...new Set(own.map((url) => new URL(url).origin))];
}

function signInProvider({ definition, secrets }: Setup, give: Give): Record<string, string> {
  const { issuer, name } = definition.signIn.provider;
  if (issuer === undefined) return {};
  return { SIGN_IN_PROVIDER_NAME: name, SIGN_IN_PROVIDER_CLIENT_SECRET_FILE: give(secrets.signInProvider) };
}

function mailProvider({ installation, definition, secrets }: Setup, give: Give): Record<string, string> {
  const { provider, url = '', smtp } = definition.mail;
  switch (provider) {
    case 'log':
      return {};
    case 'provider_a':
    case 'provider_b': {
      const prefix = provider.toUpperCase();
      return { [`${prefix}_API_KEY_FILE`]: give(secrets.mailKey), ...given(`${prefix}_URL`, url) };
    }
    case 'smtp': {
      const { host = '', port, tls, user, ca } = smtp;
      return {
        ...{ SMTP_HOST: host, SMTP_PORT: String(port), SMTP_TLS: tls },
        ...(ca === undefined ? {} : { SMTP_CA_PATH: give(resolve(installation.dir, ca)) }),
        ...(user === undefined ? {} : { SMTP_USER: user, SMTP_PASSWORD_FILE: give(secrets.mailKey) }),
      };
    }
  }
}
