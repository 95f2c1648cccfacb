import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { isAboutDates, refusedValidity, setClock } from '../../../contracts/clocks.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { systemWords } from '../../../contracts/system-words.ts';
import { findValidity } from './shown-certificate.ts';
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
    throw isRefused(thrown) ? thrown : await notReached(address, thrown);
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

async function notReached({ servers }: Address, cause: unknown): Promise<SvcError> {
  const where = servers.join(', ');
  const codes = codesOf(cause);
  if (codes.some(isAboutDates)) return await outOfDate(servers, cause);
  const isSilent = !(cause instanceof Error) || codes.includes('ETIMEDOUT');
  const why = isSilent ? 'it does not answer' : whyOf(cause);
  if (codes.some(isDistrust)) {
    const hint = codes.includes('ERR_TLS_CERT_ALTNAME_INVALID') ? wrongName : unknownAuthority;
    return new SvcError('unavailable', `The bus at ${where} is not trusted, and received no credential: ${why}.`, {
      hint,
      cause,
    });
  }
  const hint = codes.map((code) => hints[code]).find((one) => one !== undefined) ?? hintUsual;
  return new SvcError('unavailable', `Cannot reach the bus at ${where}: ${why}.`, { hint, cause });
}

const hintUsual = 'Check that it runs, that BUS_SERVERS names it, and that this machine can reach that port.';
const noRoute =
  'Check the address in BUS_SERVERS, the network of this machine, and the firewalls between the two machines.';
const wrongName =
  'The certificate must be for the name in BUS_SERVERS: use a name of the certificate, or ask the operator of the platform for a certificate with this name.';
const unknownAuthority =
  'Let BUS_CA_PATH name the PEM file of the authority that signed its certificate; svc runtime register hands it over. The certificate must be for the name in BUS_SERVERS.';

/** The machine answers with ECONNREFUSED, so only the program on it is missing. */
const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'That machine answers, and nothing listens on that port. Check on it whether the platform runs: svc status. If it does, BUS_SERVERS names the wrong port.',
  ENOTFOUND: 'Check the spelling of the host name in BUS_SERVERS, and the DNS of this machine.',
  EAI_AGAIN: 'Check the network and the DNS of this machine.',
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ETIMEDOUT: noRoute,
};

/** Either the certificate or the clock is wrong. A certificate that begins in the future proves that the clock is. */
async function outOfDate(servers: readonly string[], cause: unknown): Promise<SvcError> {
  const nowMs = Date.now();
  const validities = await Promise.all(servers.map(findValidity));
  const shown = validities.find((validity) => validity !== null && refusedValidity(validity, nowMs) !== null) ?? null;
  const where = servers.join(', ');
  const why = (shown && refusedValidity(shown, nowMs)) ?? 'is out of date';
  const isEarly = shown !== null && nowMs < shown.fromMs;
  return new SvcError(
    'unavailable',
    `The bus at ${where} is not trusted, and received no credential: its certificate ${why}.`,
    {
      hint: isEarly
        ? `The clock of this machine is wrong. ${setClock}`
        : `If this clock is right, the operator of the platform must renew the certificate. If not: ${setClock}`,
      cause,
    },
  );
}

function whyOf(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause : error;
  // After a semicolon, Node adds advice about its own flags.
  const [why = ''] = (systemWords(error) ?? (inner.message || error.message || error.name)).split(';');
  return why.slice(0, 300);
}

/** Node's error codes for an untrusted certificate (OpenSSL, X509_V_ERR_…). */
function isDistrust(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
}

/** The codes of an error and of its causes. */
function codesOf(cause: unknown): readonly string[] {
  const codes: string[] = [];
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ('code' in error) codes.push(String(error.code));
    // The client library's own deadline.
    else if (error.name === 'TimeoutError') codes.push('ETIMEDOUT');
  }
  return codes;
}
