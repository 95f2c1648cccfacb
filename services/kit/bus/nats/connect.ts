import { fromSeed, type KeyPair } from '@nats-io/nkeys';
import {
  AuthorizationError,
  connect as dial,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { z } from 'zod';
import { permissionsOf } from '../../../contracts/bus/permissions.ts';
import { SvcError, toSvcError } from '../../../contracts/errors.ts';
import type { ProcessId } from '../../../contracts/ids.ts';
import type { Secret } from '../../../contracts/secret.ts';
import type { Logger } from '../../log.ts';
import type { BackendSeeds, Credentials } from '../bus.ts';
import { BackendAccounts } from './backend-accounts.ts';
import { Callout } from './callout.ts';
import { whoAmI } from './grants.ts';
import { findIdentity, findRefusal, nameOf } from './known-as.ts';
import {
  askingWhy,
  backendLogin,
  type ClientCredentials,
  connectionName,
  type Login,
  loginOf,
  newInbox,
} from './login.ts';
import { NatsBus } from './nats-bus.ts';
import { SystemAccount } from './system-account.ts';
import { tlsOf } from './tls.ts';

export interface ConnectOptions {
  readonly servers: readonly string[];
  /** Path to the PEM file of whom to trust as the bus; null: as the system does. */
  readonly caPath: string | null;
  readonly credentials: Credentials;
  readonly process: ProcessId;
  /** Whether streams and buckets are kept on disk. */
  readonly persistent: boolean;
  readonly logger: Logger;
}

/** Longer than NATS waits for whoever decides on the connection. */
const connectDeadlineMs = 8000;
const whoAmIDeadlineMs = 3000;
/** A bus that is gone without a word is noticed after three of these. */
const pingEveryMs = 2000;
const pingsUnansweredMax = 2;
/** How soon a lost connection is tried again: at first, and at most. */
interface Patience {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Whoever decides on the others comes back before them: NATS keeps who comes too early waiting for two seconds, and then refuses it. */
const patience = {
  accounts: { firstMs: 20, maxMs: 200 },
  backend: { firstMs: 100, maxMs: 500 },
  others: { firstMs: 300, maxMs: 1000 },
} as const;

/** Connects to NATS. Once connected, the connection finds back by itself, for as long as it takes and whatever refuses it meanwhile. */
export async function connectNats(options: ConnectOptions): Promise<NatsBus> {
  const { credentials } = options;
  if (credentials.kind !== 'backend') return await connectClient(options, credentials);
  if (credentials.seeds === undefined) {
    throw new SvcError(
      'invalid_input',
      'A backend needs BUS_CALLOUT_SEED, BUS_SYSTEM_SEED and BUS_ISSUER_SEED on NATS.',
    );
  }
  return await connectBackend(options, credentials.seeds);
}

async function connectClient(options: ConnectOptions, credentials: ClientCredentials): Promise<NatsBus> {
  const login = loginOf(credentials);
  const open = (shown: Login, how: NodeConnectionOptions) => openNamed(options, () => shown, how);
  try {
    return await startBus(options, await open(login, lasting), null);
  } catch (thrown) {
    if (!isRefused(thrown)) throw thrown;
    throw await whyRefused(() => open(askingWhy(login), { reconnect: false }));
  }
}

async function connectBackend(options: ConnectOptions, seeds: BackendSeeds): Promise<NatsBus> {
  const issuer = keyPairOf(seeds.issuer);
  await using opened = new AsyncDisposableStack();
  const open = async (name: 'callout' | 'system') => {
    const authenticator = nkeyAuthenticator(Buffer.from(seeds[name].reveal()));
    const connection = await openConnection(options, { ...lasting, name, authenticator }, patience.accounts).catch(
      (thrown) => {
        throw isRefused(thrown) ? notOurBus(name, thrown) : thrown;
      },
    );
    return opened.adopt(connection, (one) => one.close());
  };
  const calls = new Callout(await open('callout'), issuer, options.logger);
  const account = new SystemAccount(await open('system'), options.logger);
  const connection = await openNamed(options, () => backendLogin(issuer, options.process), lasting).catch((thrown) => {
    throw isRefused(thrown) ? notOurBus('backend', thrown) : thrown;
  });
  const bus = await startBus(
    options,
    opened.adopt(connection, (one) => one.close()),
    new BackendAccounts(calls, account),
  );
  for (const stream of permissionsOf(bus.identity).streams) await bus.natsStream(stream).ensure();
  opened.move();
  return bus;
}

/** However long it is away, a connection finds back; a refusal on the way may be a backend that is not there yet. */
const lasting: NodeConnectionOptions = { maxReconnectAttempts: -1, ignoreAuthErrorAbort: true };

async function openNamed(
  options: ConnectOptions,
  login: () => Login,
  how: NodeConnectionOptions,
): Promise<NatsConnection> {
  const inboxPrefix = newInbox();
  // The login is asked for each time it connects: the word of a backend is fresh.
  const shown = { inboxPrefix, name: connectionName(options.process, inboxPrefix), authenticator: () => login() };
  const { kind } = options.credentials;
  return await openConnection(options, { ...how, ...shown }, kind === 'backend' ? patience.backend : patience.others);
}

async function openConnection(
  options: ConnectOptions,
  how: NodeConnectionOptions,
  patient: Patience,
): Promise<NatsConnection> {
  const delays = new ReturnDelays(patient);
  const tls = tlsOf(options.servers, options.caPath);
  try {
    const connection = await dial({
      servers: [...options.servers],
      ...(tls === null ? {} : { tls }),
      timeout: connectDeadlineMs,
      pingInterval: pingEveryMs,
      maxPingOut: pingsUnansweredMax,
      reconnectDelayHandler: () => delays.next(),
      // Waits are ours to choose: the servers' order is theirs.
      reconnectTimeWait: 0,
      noAsyncTraces: true,
      ...how,
    });
    void delays.watch(connection);
    return connection;
  } catch (thrown) {
    throw isRefused(thrown) ? thrown : notReached(options, thrown);
  }
}

/** How long a lost connection waits before it is tried again: half the time that it has been lost, within bounds, and a little less than that. */
class ReturnDelays {
  readonly #patience: Patience;
  #lostAt = performance.now();

  constructor(patient: Patience) {
    this.#patience = patient;
  }

  next(): number {
    const { firstMs, maxMs } = this.#patience;
    const lostMs = performance.now() - this.#lostAt;
    return Math.min(Math.max(lostMs / 2, firstMs), maxMs) * (0.5 + Math.random() / 2);
  }

  async watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) if (type === 'disconnect') this.#lostAt = performance.now();
  }
}

async function startBus(
  { persistent, logger }: ConnectOptions,
  connection: NatsConnection,
  accounts: BackendAccounts | null,
): Promise<NatsBus> {
  try {
    const identity = findIdentity(await ownName(connection));
    if (identity === null) throw new SvcError('internal', 'The bus let this connection in as nobody of the platform.');
    const bus = new NatsBus({ identity, connection, persistent, logger, accounts });
    void follow(connection, bus, logger);
    return bus;
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

/** Tells the bus of each loss and return of its connection. */
async function follow(connection: NatsConnection, bus: NatsBus, logger: Logger): Promise<void> {
  const { identity } = bus;
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') bus.lost();
    // Whoever is being let in again hears the same at each try, and why it is refused is told elsewhere.
    else if (status.type === 'error') {
      const level = isRefused(status.error) ? 'debug' : 'warn';
      logger[level]({ err: status.error, identity }, 'was refused something by the bus');
    } else if (status.type === 'reconnect') await welcomeBack(connection, bus, logger);
  }
  bus.lost();
}

/** Whoever comes back as somebody else must not go on as who it was. */
async function welcomeBack(connection: NatsConnection, bus: NatsBus, logger: Logger): Promise<void> {
  try {
    const name = await ownName(connection);
    if (name === nameOf(bus.identity)) bus.returned();
    else {
      logger.error({ name, identity: bus.identity }, 'came back to the bus as somebody else, and left it');
      await connection.close();
    }
  } catch (thrown) {
    logger.warn({ err: thrown }, 'could not ask the bus who this is, and will connect again');
    await connection.reconnect().catch(() => {});
  }
}

const userInfo = z.object({ data: z.object({ user: z.string() }) });

async function ownName(connection: NatsConnection): Promise<string> {
  const answer = await connection.request(whoAmI, undefined, { timeout: whoAmIDeadlineMs });
  return userInfo.parse(answer.json()).data.user;
}

/** NATS says only that it refuses; the backend tells why, if there is one. */
async function whyRefused(open: () => Promise<NatsConnection>): Promise<SvcError> {
  try {
    const connection = await open();
    try {
      const refusal = findRefusal(await ownName(connection));
      if (refusal !== null) return refusal;
    } finally {
      await connection.close();
    }
  } catch (thrown) {
    if (!isRefused(thrown)) return toSvcError(thrown);
  }
  return new SvcError('unavailable', 'No backend is connected to the bus that could check the credential.', {
    hint: 'Start the backend, then try again.',
  });
}

function isRefused(thrown: unknown): boolean {
  return thrown instanceof AuthorizationError || thrown instanceof UserAuthenticationExpiredError;
}

function notReached({ servers }: ConnectOptions, cause: unknown): SvcError {
  const where = servers.join(', ');
  const why = cause instanceof Error ? whyOf(cause) : 'it does not answer';
  if (isDistrusted(cause)) {
    return new SvcError('unavailable', `The bus at ${where} is not trusted, and was told nothing: ${why}.`, {
      hint: 'Let BUS_CA_PATH name the PEM file that vouches for it; svc runtime register hands it over. The certificate must be for the name in BUS_SERVERS.',
      cause,
    });
  }
  return new SvcError('unavailable', `The bus at ${where} cannot be reached: ${why}.`, {
    hint: 'Does it run, does BUS_SERVERS name it, and can this machine reach that port?',
    cause,
  });
}

function whyOf(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause : error;
  // Behind a semicolon Node gives advice about its own flags.
  const [why = ''] = (inner.message || error.message || error.name).split(';');
  return why.slice(0, 300);
}

/** What Node says of a certificate that it does not accept (OpenSSL, X509_V_ERR_…). */
function isDistrusted(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = 'code' in error ? String(error.code) : '';
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return true;
  }
  return false;
}

function notOurBus(account: string, cause: unknown): SvcError {
  return new SvcError('unauthenticated', `The bus does not accept the backend's ${account} credential.`, {
    hint: 'Its configuration must name the public keys of BUS_CALLOUT_SEED, BUS_SYSTEM_SEED and BUS_ISSUER_SEED.',
    cause,
  });
}

function keyPairOf(seed: Secret): KeyPair {
  return fromSeed(Buffer.from(seed.reveal()));
}
