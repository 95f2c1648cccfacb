import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { DgraphClientStub, grpc, Mutation, type NQuad, Operation, Request, TxnContext } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';
import type { Secret } from '../../../contracts/secret.ts';
import {
  isBusy,
  isLoggedOut,
  isSilent,
  isUnanswered,
  isUnsent,
  toClusterError,
  toCommitError,
} from './cluster-errors.ts';
import type { Dql } from './dql.ts';

export interface ClusterOptions {
  /** Addresses of data nodes: any of them answers anything. */
  readonly servers: readonly string[];
  /** Null: they speak no TLS. Without a PEM file of their own, the authorities that systems know vouch for them. */
  readonly tls: { readonly caPath?: string | undefined } | null;
  readonly login?: { readonly user: string; readonly password: Secret } | undefined;
  /** Lets its bearer change the schema. */
  readonly token?: Secret | undefined;
  /** A part of the cluster that is a graph of its own. */
  readonly namespace?: number | undefined;
  /** How long one request may take. */
  readonly requestMs?: number;
}

/** What a request says of the transaction it belongs to, and learns of it. */
export interface Moment {
  readonly context: TxnContext;
}

export interface Change {
  readonly set: readonly NQuad[];
  readonly remove: readonly NQuad[];
}

/** An answer takes milliseconds; a cluster that elects a leader takes a second or two. */
const requestTimeoutMs = 10_000;
/** Indexes are made anew, on all there is. */
const alterTimeoutMs = 120_000;
/** A node that was reached and is gone is not asked again for so long, as long as another is there. */
const tryAgainMs = 100;
/** What one answer, or one request, may be: a page of nodes with texts of many megabytes. */
const messageMaxBytes = 256 * 1024 * 1024;

/** The data nodes of Dgraph. Every request has a deadline; what reached nobody is asked of the next. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #nodes: readonly DataNode[];
  readonly #requestMs: number;
  #turn = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#requestMs = options.requestMs ?? requestTimeoutMs;
    const credentials = credentialsOf(options);
    this.#nodes = options.servers.map((server) => new DataNode(server, credentials, options));
  }

  /** Everything that has been acknowledged is seen. With a moment: as it was then, which the first question with it decides. */
  async ask(dql: Dql, blocks: readonly string[], moment: Moment | null): Promise<Readonly<Record<string, unknown>>> {
    const request = new Request();
    request.setQuery(dql.text(...blocks));
    for (const [name, value] of dql.variables) request.getVarsMap().set(name, value);
    request.setReadOnly(moment === null);
    if (moment !== null) {
      request.setStartTs(moment.context.getStartTs());
      request.setHash(moment.context.getHash());
    }
    const response = await this.#anywhere((node, options) => node.query(request, options));
    if (moment !== null) join(moment, response.getTxn());
    const parsed: unknown = JSON.parse(Buffer.from(response.getJson_asU8()).toString());
    return isRecord(parsed) ? parsed : {};
  }

  /**
   * All of the changes, in their order, or none of them; tells the uids of new nodes. Not asked twice: what became of it could not be told.
   */
  async commit(moment: Moment, changes: readonly Change[]): Promise<ReadonlyMap<string, string>> {
    const uids = new Map<string, string>();
    for (const [index, change] of changes.entries()) {
      const isLast = index === changes.length - 1;
      const isWhole = isLast && changes.length === 1;
      const response = await this.#once((node, options) =>
        node.query(mutation(moment, withUids(change, uids), isWhole), options),
      );
      for (const [blank, uid] of response.getUidsMap().entries()) uids.set(`_:${blank}`, uid);
      join(moment, response.getTxn());
      if (isLast && !isWhole) await this.#once((node, options) => node.commit(moment.context, options));
    }
    return uids;
  }

  /** Adds to the schema. It waits while others change theirs. */
  async alter(schema: string): Promise<void> {
    const operation = new Operation();
    operation.setSchema(schema);
    await this.#change(operation);
  }

  /** Takes a predicate with all its values, or a type, out of the schema; none is fine. */
  async drop(what: 'ATTR' | 'TYPE', name: string): Promise<void> {
    const operation = new Operation();
    operation.setDropOp(Operation.DropOp[what]);
    operation.setDropValue(name);
    await this.#change(operation);
  }

  async #change(operation: Operation): Promise<void> {
    for (const until = performance.now() + alterTimeoutMs; ; ) {
      try {
        await this.#pick().alter(operation, { deadline: Date.now() + alterTimeoutMs });
        return;
      } catch (thrown) {
        const isPassing = isBusy(thrown) || isUnanswered(thrown);
        if (!isPassing || performance.now() > until) throw toClusterError(thrown, this.#options.servers);
        await delay(tryAgainMs);
      }
    }
  }

  close(): void {
    for (const node of this.#nodes) node.close();
  }

  /** A question may be asked again, of another node, until the time is over. */
  #anywhere<Answer>(ask: (node: DataNode, options: grpc.CallOptions) => Promise<Answer>): Promise<Answer> {
    return this.#until(isUnanswered, toClusterError, ask);
  }

  /** What may have been carried out is not asked twice. */
  #once<Answer>(ask: (node: DataNode, options: grpc.CallOptions) => Promise<Answer>): Promise<Answer> {
    return this.#until(isUnsent, toCommitError, ask);
  }

  async #until<Answer>(
    isPassing: (thrown: unknown) => boolean,
    toError: typeof toClusterError,
    ask: (node: DataNode, options: grpc.CallOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = Date.now() + this.#requestMs;
    for (;;) {
      const node = this.#pick();
      try {
        return await ask(node, { deadline });
      } catch (thrown) {
        // Whoever is silent may be at the other end of a connection that is none any more.
        if (isSilent(thrown)) node.reconnect();
        if (!isPassing(thrown) || Date.now() + tryAgainMs > deadline) throw toError(thrown, this.#options.servers);
        await delay(tryAgainMs);
      }
    }
  }

  /** In turn, first those that are connected. */
  #pick(): DataNode {
    const start = this.#turn++;
    const inTurn = this.#nodes.map((_, index) => this.#nodes[(start + index) % this.#nodes.length]);
    const chosen = inTurn.find((node) => node?.isConnected) ?? inTurn[0];
    if (chosen === undefined) throw new SvcError('invalid_input', 'PRIVATE_GRAPHDB_GRPC_URL names no address.');
    return chosen;
  }
}

/** One data node: logged in when it is first asked, and again when its answer says so. */
class DataNode {
  readonly #server: string;
  readonly #credentials: grpc.ChannelCredentials;
  readonly #options: ClusterOptions;
  #stub: DgraphClientStub;
  #entered: Promise<unknown> | null = null;

  constructor(server: string, credentials: grpc.ChannelCredentials, options: ClusterOptions) {
    this.#server = server;
    this.#credentials = credentials;
    this.#options = options;
    this.#stub = this.#connect();
  }

  /** What is under way on the connection so far comes to its own end. */
  reconnect(): void {
    this.#stub.close();
    this.#stub = this.#connect();
    this.#entered = null;
  }

  #connect(): DgraphClientStub {
    return new DgraphClientStub(this.#server, this.#credentials, {
      'grpc.max_receive_message_length': messageMaxBytes,
      'grpc.max_send_message_length': messageMaxBytes,
      // One that went away is looked for often: it may be back before anyone else can answer.
      'grpc.initial_reconnect_backoff_ms': tryAgainMs,
      'grpc.max_reconnect_backoff_ms': 1000,
      // Else a new client would get the connection of the one before. Dgraph allows no pings that would tell whether it still is one.
      'grpc.use_local_subchannel_pool': 1,
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
    await this.#enter(options);
    try {
      return await ask(this.#metadata());
    } catch (thrown) {
      if (this.#options.login === undefined || !isLoggedOut(thrown)) throw thrown;
      this.#entered = null;
      await this.#enter(options);
      return ask(this.#metadata());
    }
  }

  async #enter(options: grpc.CallOptions): Promise<void> {
    const { login, namespace = 0 } = this.#options;
    if (login === undefined) return;
    this.#entered ??= this.#stub
      .loginIntoNamespace(login.user, login.password.reveal(), namespace, undefined, this.#metadata(), options)
      .catch((thrown: unknown) => {
        this.#entered = null;
        throw thrown;
      });
    await this.#entered;
  }

  #metadata(): grpc.Metadata {
    const metadata = new grpc.Metadata();
    if (this.#options.token !== undefined) metadata.set('auth-token', this.#options.token.reveal());
    return metadata;
  }
}

function credentialsOf({ tls }: ClusterOptions): grpc.ChannelCredentials {
  if (tls === null) return grpc.credentials.createInsecure();
  return grpc.credentials.createSsl(tls.caPath === undefined ? null : readFileSync(tls.caPath));
}

export function beginMoment(): Moment {
  return { context: new TxnContext() };
}

/** What Dgraph says of a transaction is said back to it when it is to be stored. */
function join({ context }: Moment, said: TxnContext | undefined): void {
  if (said === undefined) return;
  if (context.getStartTs() === 0) context.setStartTs(said.getStartTs());
  context.setHash(said.getHash());
  for (const key of said.getKeysList()) context.addKeys(key);
  for (const predicate of said.getPredsList()) context.addPreds(predicate);
}

function mutation({ context }: Moment, { set, remove }: Change, commitNow: boolean): Request {
  const mutation = new Mutation();
  mutation.setSetList([...set]);
  mutation.setDelList([...remove]);
  const request = new Request();
  request.setStartTs(context.getStartTs());
  request.setHash(context.getHash());
  request.setMutationsList([mutation]);
  request.setCommitNow(commitNow);
  return request;
}

/** A node that an earlier change of the same transaction has made is known by its uid from then on. */
function withUids(change: Change, uids: ReadonlyMap<string, string>): Change {
  if (uids.size === 0) return change;
  for (const quad of [...change.set, ...change.remove]) {
    quad.setSubject(uids.get(quad.getSubject()) ?? quad.getSubject());
    quad.setObjectId(uids.get(quad.getObjectId()) ?? quad.getObjectId());
  }
  return change;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
