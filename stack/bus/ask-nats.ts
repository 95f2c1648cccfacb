import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { SvcError } from '../../services/contracts/errors.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { inWords } from '../../services/contracts/system-words.ts';

export interface NatsLogin {
  /** With its scheme and port. */
  readonly server: string;
  /** Seed of the user. */
  readonly seed: string;
  /** For a server with TLS; absent: the server decides, and the system's authorities vouch for it. */
  readonly tls?: NonNullable<NodeConnectionOptions['tls']>;
  /** Default 5 s: a server in the same building answers in a millisecond. */
  readonly timeoutMs?: number;
}

/**
 * Asks a NATS server as this user, over a connection that is closed afterwards. Throws `forbidden` when the server
 * refuses the user, and `unavailable` when it does not answer as a NATS server.
 */
export async function askNats<Answer>(
  { server, seed, tls, timeoutMs = 5000 }: NatsLogin,
  ask: (connection: NatsConnection) => Answer | Promise<Answer>,
): Promise<Answer> {
  let connection: NatsConnection | null = null;
  try {
    connection = await connect({
      servers: server,
      authenticator: nkeyAuthenticator(Buffer.from(seed)),
      ...(tls === undefined ? {} : { tls }),
      timeout: timeoutMs,
      reconnect: false,
      noAsyncTraces: true,
    });
    return await ask(connection);
  } catch (error) {
    if (error instanceof AuthorizationError) {
      throw new SvcError('forbidden', `${server} does not know this user.`, { cause: error });
    }
    throw new SvcError('unavailable', `${server} does not answer as a NATS server: ${inWords(error)}.`, {
      hint: 'Is it running, and is bus.servers in svc.yaml right?',
      cause: error,
    });
  } finally {
    await connection?.close();
  }
}

/** TLS as `server` requests it, with the authority in this PEM text. The NATS client passes no IP address to TLS. */
export function tlsOf(server: string, ca: string | null): Pick<NatsLogin, 'tls'> {
  if (ca === null && !server.startsWith('tls:')) return {};
  const checkName = (_: string, certificate: PeerCertificate) => checkServerIdentity(hostOf(server), certificate);
  const tls = { checkServerIdentity: checkName, ...(ca === null ? {} : { ca }) };
  return { tls };
}
