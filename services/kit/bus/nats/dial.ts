import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { systemWords } from '../../../contracts/system-words.ts';
import { tlsOf } from './tls.ts';

/** The address of the bus. */
export interface Address {
  readonly servers: readonly string[];
  /** Path to the PEM file of the authority that signs the bus's certificate; null: the system's authorities. */
  readonly caPath: string | null;
}

/** How soon a lost connection is retried: first and longest delay. */
export interface Patience {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Longer than NATS waits for a decision on the connection. */
export const connectDeadlineMs = 8000;
/** A silent loss of the bus is noticed after three of these. */
const pingEveryMs = 2000;
const pingsUnansweredMax = 2;

/**
 * Opens a connection. Throws `unavailable` with the reason; if the credential is refused, with the reason that NATS
 * gives.
 */
export async function openConnection(
  address: Address,
  how: NodeConnectionOptions,
  patient: Patience,
): Promise<NatsConnection> {
  const delays = new ReturnDelays(patient);
  const tls = tlsOf(address.servers, address.caPath);
  try {
    const connection = await connect({
      servers: [...address.servers],
      ...(tls === null ? {} : { tls }),
      timeout: connectDeadlineMs,
      pingInterval: pingEveryMs,
      maxPingOut: pingsUnansweredMax,
      reconnectDelayHandler: () => delays.next(),
      // We choose the delay; the client library chooses the server.
      reconnectTimeWait: 0,
      noAsyncTraces: true,
      ...how,
    });
    void delays.watch(connection);
    return connection;
  } catch (thrown) {
    throw isRefused(thrown) ? thrown : notReached(address, thrown);
  }
}

export function isRefused(thrown: unknown): boolean {
  return thrown instanceof AuthorizationError || thrown instanceof UserAuthenticationExpiredError;
}

/** Delays before a lost connection is retried: about half the time since the loss, within bounds. */
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

function notReached({ servers }: Address, cause: unknown): SvcError {
  const where = servers.join(', ');
  const why = cause instanceof Error ? whyOf(cause) : 'it does not answer';
  if (isDistrusted(cause)) {
    return new SvcError('unavailable', `The bus at ${where} is not trusted, and received no credential: ${why}.`, {
      hint: 'Let BUS_CA_PATH name the PEM file of the authority that signed its certificate; svc runtime register hands it over. The certificate must be for the name in BUS_SERVERS.',
      cause,
    });
  }
  return new SvcError('unavailable', `Cannot reach the bus at ${where}: ${why}.`, {
    hint: 'Check that it runs, that BUS_SERVERS names it, and that this machine can reach that port.',
    cause,
  });
}

function whyOf(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause : error;
  // After a semicolon, Node adds advice about its own flags.
  const [why = ''] = (systemWords(error) ?? (inner.message || error.message || error.name)).split(';');
  return why.slice(0, 300);
}

/** Node's error codes for an untrusted certificate (OpenSSL, X509_V_ERR_…). */
function isDistrusted(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = 'code' in error ? String(error.code) : '';
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return true;
  }
  return false;
}
