import { newProcessId } from '../contracts/ids.ts';
import { createAddressRule } from '../kit/addresses/address-rule.ts';
import { resolveByDns } from '../kit/addresses/resolve-by-dns.ts';
import type { BackendSeeds } from '../kit/bus/bus.ts';
import { openBus } from '../kit/bus/open-bus.ts';
import { createLog } from '../kit/log.ts';
import type { Surroundings } from '../kit/service.ts';
import { Attempts } from './accounts/attempts.ts';
import { findSession } from './accounts/browser-sessions.ts';
import { Passwords } from './accounts/passwords.ts';
import { openProvider } from './accounts/provider.ts';
import type { Config } from './config.ts';
import type { Backend } from './context.ts';
import { openBlobs } from './files/open-blobs.ts';
import { type OpenGraphOptions, openGraph } from './graph/open-graph.ts';
import { createGuardedFetch } from './http/guarded-fetch.ts';
import { newIntegrationQueue } from './integrations/integrations.ts';
import { revokeTokensOf } from './integrations/revoke-tokens.ts';
import { ChangeFeed } from './live/change-feed.ts';
import { MailSender } from './mail/mail-sender.ts';
import { openMailEngine } from './mail/open-mail-engine.ts';
import { commandRuntimes } from './runtimes/command-runtimes.ts';
import { Processes } from './runtimes/processes.ts';
import { checkEncryptionKey } from './secrets/check-encryption-key.ts';
import { openSecrets } from './secrets/secrets.ts';
import { loadSigningKeys } from './tokens/signing-keys.ts';
import {
  createAgentTokenVerifier,
  createMcpTokenVerifier,
  createTokenVerifier,
  type UserPrincipal,
} from './tokens/verify-token.ts';
import { NameTries } from './workspaces/name-tries.ts';

/**
 * Builds the backend's context, each dependency once; `open` closes them in the opposite order. It is separate from
 * `context.ts`, because the modules built here import that type.
 */
export async function openBackend(
  config: Config,
  { hub, version, log: destination }: Surroundings,
  open: AsyncDisposableStack,
): Promise<Backend> {
  const log = createLog({ service: 'backend', level: config.LOG_LEVEL, destination });
  const signingKeys = await loadSigningKeys({
    privateKey: config.JWT_PRIVATE_KEY_PATH,
    publicKey: config.JWT_PUBLIC_KEY_PATH,
    previousPublicKey: config.JWT_PREVIOUS_PUBLIC_KEY_PATH,
  });
  const secrets = openSecrets({ present: config.ENCRYPTION_KEY, previous: config.ENCRYPTION_KEY_PREVIOUS });
  const graph = open.adopt(await openGraph(graphOptions(config)), (opened) => opened.close());
  await checkEncryptionKey(graph, secrets);
  const process = newProcessId();
  const connected = await openBus({
    ...{ servers: config.BUS_SERVERS, caPath: config.BUS_CA_PATH, persistent: config.BUS_PERSISTENT_MESSAGING },
    ...{ credentials: { kind: 'backend', seeds: busSeeds(config) }, nonce: process, hub, logger: log('bus') },
  });
  const bus = open.adopt(connected, (opened) => opened.close());
  const blobs = await openBlobs(config.FILES_DIR, bus);
  const processes = new Processes();
  const isSignedIn = async ({ user, session }: UserPrincipal) => (await findSession(graph, session))?.user === user;
  const changes = open.adopt(new ChangeFeed({ graph, bus, processes, isSignedIn }), (feed) => feed.stop());
  const allowed = config.MCP_SERVER_ALLOWED_ADDRESSES ?? [];
  const reach = { rule: createAddressRule(allowed), resolve: resolveByDns };
  const integrations = { fetch: createGuardedFetch(reach), queue: newIntegrationQueue() };
  const tokenRules = { issuer: config.JWT_ISSUER, verifying: signingKeys.verifying };
  return {
    config,
    version,
    process,
    graph,
    bus,
    blobs,
    log,
    secrets,
    mailSender: new MailSender({ graph, secrets, log }, await openMailEngine(config, { log })),
    signingKeys,
    processes,
    verifyMcpToken: createMcpTokenVerifier({ ...tokenRules, isSignedIn }),
    verifyAgentToken: createAgentTokenVerifier({ ...tokenRules, audience: config.PUBLIC_MCP_URL }),
    verifyToken: createTokenVerifier({ ...tokenRules, isSignedIn }),
    changes,
    passwords: new Passwords(),
    attempts: new Attempts(),
    nameTries: new NameTries(),
    provider: openProvider({ config }),
    integrations,
    revokeTokensOf: (integration) => revokeTokensOf({ secrets, log, integrations }, integration),
    commandRuntimes: (runtimes, command) => commandRuntimes({ bus, processes }, runtimes, command),
  };
}

function graphOptions(config: Config): OpenGraphOptions {
  return {
    url: config.PRIVATE_GRAPHDB_URL,
    servers: config.PRIVATE_GRAPHDB_GRPC_URL,
    caPath: config.PRIVATE_GRAPHDB_CA_PATH,
    user: config.PRIVATE_GRAPHDB_USER,
    password: config.PRIVATE_GRAPHDB_PASSWORD,
    token: config.PRIVATE_GRAPHDB_TOKEN,
  };
}

/** All seeds or none: none when the bus is in this process. */
function busSeeds(config: Config): BackendSeeds | undefined {
  const { BUS_CALLOUT_SEED: callout, BUS_SYSTEM_SEED: system, BUS_ISSUER_SEED: issuer } = config;
  if (callout === undefined || system === undefined || issuer === undefined) return undefined;
  return { callout, system, issuer };
}
