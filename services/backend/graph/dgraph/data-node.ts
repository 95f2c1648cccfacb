import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { DgraphClientStub, grpc, type Operation, type Request, type TxnContext } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';
import { hostOf } from '../../../contracts/host-of.ts';
import type { Secret } from '../../../contracts/secret.ts';
import { inWords } from '../../../contracts/system-words.ts';
import { isLoggedOut } from './cluster-errors.ts';

/** Pause before a request is repeated. */
export const tryAgainMs = 100;
/** Largest answer and request: a page of nodes with texts of many megabytes. */
const messageMaxBytes = 256 * 1024 * 1024;

/** The addresses of the data nodes, and the credentials of the platform's user. */
export interface NodeOptions {
  /** Addresses of data nodes. Each of them answers every query. */
  readonly servers: readonly string[];
  /** Null: no TLS. Without `caPath`, the certificate authorities of the system apply. */
  readonly tls: { readonly caPath?: string | undefined } | null;
  readonly login?: { readonly user: string; readonly password: Secret } | undefined;
  /** Token that allows changes of the schema. */
  readonly token?: Secret | undefined;
  /** Namespace of the cluster; each namespace is a separate graph. */
  readonly namespace?: number | undefined;
}

/** Connects to each data node. One login is valid at all of them. */
export function openDataNodes(options: NodeOptions): readonly DataNode[] {
  const shown: SharedToken = { access: null };
  return options.servers.map(
    (server) => new DataNode({ server, credentials: credentialsOf(server, options), options, shown }),
  );
}

/** The access token of all nodes; null before the first login. */
interface SharedToken {
  access: Promise<string> | null;
}

interface Opened {
  readonly server: string;
  readonly credentials: grpc.ChannelCredentials;
  readonly options: NodeOptions;
  readonly shown: SharedToken;
}

/** One data node. Logs in before the first request, and again when the access token has expired. */
export class DataNode {
  readonly server: string;
  readonly #credentials: grpc.ChannelCredentials;
  readonly #options: NodeOptions;
  readonly #shown: SharedToken;
  #stub: DgraphClientStub;

  constructor({ server, credentials, options, shown }: Opened) {
    this.server = server;
    this.#credentials = credentials;
    this.#options = options;
    this.#shown = shown;
    this.#stub = this.#connect();
  }

  /** Opens a new connection. Open requests on the old one end there. */
  reconnect(): void {
    this.#stub.close();
    this.#stub = this.#connect();
  }

  #connect(): DgraphClientStub {
    return new DgraphClientStub(this.server, this.#credentials, {
      'grpc.max_receive_message_length': messageMaxBytes,
      'grpc.max_send_message_length': messageMaxBytes,
      // A node that restarts may be back before another node can answer.
      'grpc.initial_reconnect_backoff_ms': tryAgainMs,
      'grpc.max_reconnect_backoff_ms': 1000,
      // Otherwise a new client shares the dead connection of the old one. Dgraph allows no keepalive pings, which would
      // detect it.
      'grpc.use_local_subchannel_pool': 1,
      // TLS accepts no IP address as a name. `checkServerIdentity` still compares the certificate with the address.
      ...(isAddress(this.server) ? { 'grpc.ssl_target_name_override': 'localhost' } : {}),
    });
  }

  get isConnected(): boolean {
    return this.#stub.grpcClient().getChannel().getConnectivityState(false) === grpc.connectivityState.READY;
  }

  query(request: Request, options: grpc.CallOptions) {
    return this.#loggedIn(options, (metadata) => this.#stub.query(request, metadata, options));
  }

  commit(context: TxnContext, options: grpc.CallOptions) {
    return this.#loggedIn(options, (metadata) => this.#stub.commitOrAbort(context, metadata, options));
  }

  alter(operation: Operation, options: grpc.CallOptions) {
    return this.#loggedIn(options, (metadata) => this.#stub.alter(operation, metadata, options));
  }

  close(): void {
    this.#stub.close();
  }

  async #loggedIn<Answer>(
    options: grpc.CallOptions,
    ask: (metadata: grpc.Metadata) => Promise<Answer>,
  ): Promise<Answer> {
    const access = await this.#enter(options);
    try {
      return await ask(this.#metadata(access));
    } catch (thrown) {
      if (this.#options.login === undefined || !isLoggedOut(thrown)) throw thrown;
      this.#shown.access = null;
      return ask(this.#metadata(await this.#enter(options)));
    }
  }

  /** The access token; null for a Dgraph without users. */
  async #enter(options: grpc.CallOptions): Promise<string | null> {
    const { login, namespace = 0 } = this.#options;
    if (login === undefined) return null;
    const shown = this.#shown;
    shown.access ??= this.#stub
      .loginIntoNamespace(login.user, login.password.reveal(), namespace, undefined, this.#metadata(null), options)
      .then((granted) => granted.getAccessJwt())
      .catch((thrown: unknown) => {
        shown.access = null;
        throw thrown;
      });
    return await shown.access;
  }

  #metadata(access: string | null): grpc.Metadata {
    const metadata = new grpc.Metadata();
    if (this.#options.token !== undefined) metadata.set('auth-token', this.#options.token.reveal());
    if (access !== null) metadata.set('accessJwt', access);
    return metadata;
  }
}

function credentialsOf(server: string, { tls }: NodeOptions): grpc.ChannelCredentials {
  if (tls === null) return grpc.credentials.createInsecure();
  const authority = tls.caPath === undefined ? null : readAuthority(tls.caPath);
  const host = hostOf(server);
  return grpc.credentials.createSsl(authority, null, null, {
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  });
}

function isAddress(server: string): boolean {
  return isIP(hostOf(server)) !== 0;
}

function readAuthority(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new SvcError('invalid_input', `PRIVATE_GRAPHDB_CA_PATH: "${path}" cannot be read: ${inWords(cause)}.`, {
      hint: 'Set it to a PEM file with the certificate authorities of the graph database.',
      cause,
    });
  }
}
