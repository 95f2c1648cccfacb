import { type NatsConnection, type NodeConnectionOptions, nkeyAuthenticator } from '@nats-io/transport-node';
import { type Identity, permissionsOf } from '../../../contracts/bus/permissions.ts';
import { SvcError, toSvcError } from '../../../contracts/errors.ts';
import { newProcessId, type ProcessId } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import type { BackendSeeds, Credentials } from '../bus.ts';
import type { ClientCredentials } from '../name-process.ts';
import { BackendAccounts } from './backend-accounts.ts';
import { Callout } from './callout.ts';
import { findIdentity, findRefusal, nameOf } from './connection-name.ts';
import { type Address, isRefused, openConnection } from './dial.ts';
import { Issuer } from './issuer.ts';
import { askingWhy, backendLogin, connectionName, type Login, loginOf, newInbox } from './login.ts';
import { NatsBus } from './nats-bus.ts';
import { OwnIntroduction } from './own-introduction.ts';
import { SystemAccount } from './system-account.ts';

export interface ConnectOptions extends Address {
  readonly credentials: Credentials;
  /**
   * Distinguishes this process from others with the same credential. It is a backend's process id, because a backend
   * proves its identity.
   */
  readonly nonce?: ProcessId;
  /** Whether streams and buckets are kept on disk. */
  readonly persistent: boolean;
  readonly logger: Logger;
}

type ConnectPlan = Required<ConnectOptions>;

/**
 * Backends reconnect before other clients, because NATS lets an early client wait for two seconds and then refuses it.
 */
const patience = {
  accounts: { firstMs: 20, maxMs: 200 },
  backend: { firstMs: 100, maxMs: 500 },
  others: { firstMs: 300, maxMs: 1000 },
} as const;

/** Connects to NATS. A lost connection reconnects by itself, without a limit of time, also after refusals. */
export async function connectNats(given: ConnectOptions): Promise<NatsBus> {
  const options = { nonce: newProcessId(), ...given };
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

async function connectClient(options: ConnectPlan, credentials: ClientCredentials): Promise<NatsBus> {
  const login = loginOf(credentials);
  const open = (shown: Login, how: NodeConnectionOptions) => openNamed(options, () => shown, how);
  try {
    return await startClient(options, await open(login, lasting));
  } catch (thrown) {
    if (!isRefused(thrown)) throw thrown;
    throw await whyRefused(() => open(askingWhy(login), { reconnect: false }));
  }
}

async function connectBackend(options: ConnectPlan, seeds: BackendSeeds): Promise<NatsBus> {
  const issuer = new Issuer(seeds.issuer);
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
  account.onConnected((identity) => calls.connections.connected(identity));
  void account.onReturn(() => void calls.connections.count());
  await calls.connections.open(() => account.list());
  const named = await openNamed(options, () => backendLogin(issuer, options.nonce), lasting).catch((thrown) => {
    throw isRefused(thrown) ? notOurBus('backend', thrown) : thrown;
  });
  const connection = opened.adopt(named.connection, (one) => one.close());
  await calls.introductions.open(connection, named.inbox);
  const bus = startBus(options, {
    ...{ connection, identity: { kind: 'backend', process: options.nonce } },
    accounts: new BackendAccounts(calls, account),
    introduction: null,
  });
  for (const stream of permissionsOf(bus.identity).streams) await bus.natsStream(stream).ensure();
  opened.move();
  return bus;
}

/** A connection retries without a limit: a refusal may only mean that no backend is connected yet. */
const lasting: NodeConnectionOptions = { maxReconnectAttempts: -1, ignoreAuthErrorAbort: true };

async function openNamed(
  options: ConnectPlan,
  login: () => Login,
  how: NodeConnectionOptions,
): Promise<NamedConnection> {
  const inboxPrefix = newInbox();
  // A new login for each connect, because a backend's proof is only valid for a minute.
  const shown = { inboxPrefix, name: connectionName(options.nonce, inboxPrefix), authenticator: () => login() };
  const { kind } = options.credentials;
  const patient = kind === 'backend' ? patience.backend : patience.others;
  return { connection: await openConnection(options, { ...how, ...shown }, patient), inbox: inboxPrefix };
}

interface NamedConnection {
  readonly connection: NatsConnection;
  readonly inbox: string;
}

async function startClient(options: ConnectPlan, { connection, inbox }: NamedConnection): Promise<NatsBus> {
  try {
    const introduction = new OwnIntroduction(connection, inbox);
    const identity = findIdentity((await introduction.name()) ?? '');
    if (identity === null) throw new SvcError('internal', 'The bus gave this connection no identity of the platform.');
    return startBus(options, { connection, identity, accounts: null, introduction });
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

interface OpenedBus {
  readonly connection: NatsConnection;
  readonly identity: Identity;
  readonly accounts: BackendAccounts | null;
  /** Null for a backend, which knows its identity. */
  readonly introduction: OwnIntroduction | null;
}

function startBus({ persistent, logger }: ConnectPlan, opened: OpenedBus): NatsBus {
  const bus = new NatsBus({ ...opened, persistent, logger });
  void follow(opened, bus, logger);
  return bus;
}

/** Reports each loss and return of the connection to the bus. */
async function follow({ connection, introduction }: OpenedBus, bus: NatsBus, logger: Logger): Promise<void> {
  const { identity } = bus;
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      introduction?.forget();
      bus.lost();
    }
    // A client in retries gets the same error each time, and learns the reason elsewhere.
    else if (status.type === 'error') {
      const level = isRefused(status.error) ? 'debug' : 'warn';
      logger[level]({ err: status.error, identity }, 'was refused permission by the bus');
    } else if (status.type === 'reconnect') {
      if (introduction === null) bus.returned();
      // Not awaited: the connection may be lost again meanwhile, which must be noticed at once.
      else void welcomeBack(connection, introduction, bus, logger);
    }
  }
  bus.lost();
}

/** A connection that returns under another identity must not continue the old work. */
async function welcomeBack(
  connection: NatsConnection,
  introduction: OwnIntroduction,
  bus: NatsBus,
  logger: Logger,
): Promise<void> {
  try {
    const name = await introduction.name();
    if (name === null) return;
    if (name === nameOf(bus.identity)) bus.returned();
    else {
      logger.error({ name, identity: bus.identity }, 'left the bus after a return under another identity');
      await connection.close();
    }
  } catch (thrown) {
    logger.warn({ err: thrown }, 'did not learn its identity in time, connecting again');
    await connection.reconnect().catch(() => {});
  }
}

/** NATS only says that it refuses; a backend gives the reason, unless too many clients ask. */
async function whyRefused(open: () => Promise<NamedConnection>): Promise<SvcError> {
  try {
    const { connection, inbox } = await open();
    try {
      const refusal = findRefusal((await new OwnIntroduction(connection, inbox).name()) ?? '');
      if (refusal !== null) return refusal;
    } finally {
      await connection.close();
    }
  } catch (thrown) {
    if (!isRefused(thrown)) return toSvcError(thrown);
  }
  return new SvcError('unavailable', 'No backend said why the bus refused this connection.', {
    hint: 'Check on the machine of the platform that a backend runs: svc status. If it does, try again in a few seconds: too many refused clients ask at once.',
  });
}

function notOurBus(account: string, cause: unknown): SvcError {
  return new SvcError('unauthenticated', `The bus does not accept the backend's ${account} credential.`, {
    hint: 'Name the public keys of BUS_CALLOUT_SEED, BUS_SYSTEM_SEED and BUS_ISSUER_SEED in the configuration of NATS.',
    cause,
  });
}
