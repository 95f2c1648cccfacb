import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { DgraphClientStub, grpc, type Operation, type Request, type TxnContext } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';
import { hostOf } from '../../../contracts/host-of.ts';
import type { Secret } from '../../../contracts/secret.ts';
import { inWords } from '../../../contracts/system-words.ts';
import { isLoggedOut } from './cluster-errors.ts';

/** A node that was reached and is gone is not asked again for so long, as long as another is there. */
export const tryAgainMs = 100;
/** What one answer, or one request, may be: a page of nodes with texts of many megabytes. */
const messageMaxBytes = 256 * 1024 * 1024;

/** Where the data nodes are, and who comes there. */
export interface NodeOptions {
  /** Addresses of data nodes: any of them answers anything. */
  readonly servers: readonly string[];
  /** Null: they speak no TLS. Without a PEM file of their own, the authorities that systems know vouch for them. */
  readonly tls: { readonly caPath?: string | undefined } | null;
  readonly login?: { readonly user: string; readonly password: Secret } | undefined;
  /** Lets its bearer change the schema. */
  readonly token?: Secret | undefined;
  /** A part of the cluster that is a graph of its own. */
  readonly namespace?: number | undefined;
}

/** The data nodes that are named. Whoever has logged in to one of them is known to all. */
export function openDataNodes(options: NodeOptions): readonly DataNode[] {
  const shown: Shown = { access: null };
  return options.servers.map(
    (server) => new DataNode({ server, credentials: credentialsOf(server, options), options, shown }),
  );
}

/** What all nodes are shown: nothing before the first has let us in. */
interface Shown {
  access: Promise<string> | null;
}

interface Opened {
  readonly server: string;
  readonly credentials: grpc.ChannelCredentials;
  readonly options: NodeOptions;
  readonly shown: Shown;
}

/** One data node: logged in when it is first asked, and again when its answer says so. */
export class DataNode {
  readonly server: string;
  readonly #credentials: grpc.ChannelCredentials;
  readonly #options: NodeOptions;
  readonly #shown: Shown;
  #stub: DgraphClientStub;

  constructor({ server, credentials, options, shown }: Opened) {
    this.server = server;
    this.#credentials = credentials;
    this.#options = options;
    this.#shown = shown;
    this.#stub = this.#connect();
  }

  /** What is under way on the connection so far comes to its own end. */
  reconnect(): void {
    this.#stub.close();
    this.#stub = this.#connect();
  }

  #connect(): DgraphClientStub {
    return new DgraphClientStub(this.server, this.#credentials, {
      'grpc.max_receive_message_length': messageMaxBytes,
      'grpc.max_send_message_length': messageMaxBytes,
      // One that went away is looked for often: it may be back before anyone else can answer.
      'grpc.initial_reconnect_backoff_ms': tryAgainMs,
      'grpc.max_reconnect_backoff_ms': 1000,
      // Else a new client would get the connection of the one before. Dgraph allows no pings that would tell whether it still is one.
      'grpc.use_local_subchannel_pool': 1,
      // TLS can be told names only. What a certificate must say is the address all the same.
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

  /** What shows who we are; null where nobody is asked for it. */
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
      hint: 'Set it to a file with the certificates of those who vouch for the graph database, in PEM form.',
      cause,
    });
  }
}
