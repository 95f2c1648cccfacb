import { setTimeout as delay } from 'node:timers/promises';
import { type grpc, Mutation, Operation, Request, TxnContext } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';
import { isObject } from '../../../contracts/is-object.ts';
import { Hidden, isBusy, isSilent, isUnanswered, isUnsent, toClusterError, toCommitError } from './cluster-errors.ts';
import { type DataNode, type NodeOptions, openDataNodes, tryAgainMs } from './data-node.ts';
import type { Dql } from './dql.ts';
import { type Change, nQuads, type Quad } from './quads.ts';
import { ledger } from './storage.ts';

export interface ClusterOptions extends NodeOptions {
  /** The deadline of one request. */
  readonly requestMs?: number;
}

/** A transaction as Dgraph knows it: its start time, and the keys that it has written. */
export interface Moment {
  readonly context: TxnContext;
}

/** An answer takes milliseconds, a leader election a second or two. */
const requestTimeoutMs = 10_000;
/** Dgraph may rebuild an index over all data. */
const alterTimeoutMs = 120_000;
/**
 * How long a query waits for both of two nodes before it accepts the answer of one, and how long later queries accept
 * one at once.
 */
const bothMs = 1500;
const aloneMs = 2000;

/** The data nodes of Dgraph. Every request has a deadline. A request that reached no node goes to the next node. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #nodes: readonly DataNode[];
  readonly #requestMs: number;
  #turn = 0;
  /** Until then, a query accepts the answer of one of two nodes. */
  #aloneUntil = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#requestMs = options.requestMs ?? requestTimeoutMs;
    this.#nodes = openDataNodes(options);
  }

  /**
   * Sees every acknowledged change. While one of two nodes is away, the last changes before its loss may be missing.
   * With a moment, a query sees the state of that transaction's start, which is its first query.
   */
  async ask(dql: Dql, blocks: readonly string[], moment: Moment | null): Promise<Readonly<Record<string, unknown>>> {
    const request = new Request();
    request.setQuery(dql.text(...blocks, askRights));
    for (const [name, value] of dql.variables) request.getVarsMap().set(name, value);
    request.setReadOnly(moment === null);
    if (moment !== null) {
      request.setStartTs(moment.context.getStartTs());
      request.setHash(moment.context.getHash());
    }
    const { answers, context } = await (moment === null ? this.#read(request) : this.#anywhere(asking(request)));
    if (moment !== null) join(moment, context);
    return answers;
  }

  /**
   * Stores all changes, in their order, or none, and returns the uids of new nodes. A change that may have been stored is never sent again.
   */
  async commit(moment: Moment, changes: readonly Change[]): Promise<ReadonlyMap<string, string>> {
    const uids = new Map<string, string>();
    for (const [index, change] of changes.entries()) {
      const isLast = index === changes.length - 1;
      const isWhole = isLast && changes.length === 1;
      const request = new Request();
      request.setMutationsList([mutationOf(withUids(change, uids))]);
      request.setStartTs(moment.context.getStartTs());
      request.setHash(moment.context.getHash());
      request.setCommitNow(isWhole);
      const response = await this.#once((node, options) => node.query(request, options));
      for (const [blank, uid] of response.getUidsMap().entries()) uids.set(`_:${blank}`, uid);
      join(moment, response.getTxn());
      if (isLast && !isWhole) await this.#once((node, options) => node.commit(moment.context, options));
    }
    // A change needs both nodes, so both are back.
    this.#aloneUntil = 0;
    return uids;
  }

  /** Adds to the schema. Waits while another client changes it. */
  async alter(schema: string): Promise<void> {
    const operation = new Operation();
    operation.setSchema(schema);
    await this.#change(operation);
  }

  /** Removes a predicate with all its values, or a type, from the schema. Idempotent. */
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

  /**
   * Two data nodes acknowledge each change together, so while one is away the other has everything: a best-effort read of it suffices. One of
   * three nodes may lag behind the majority, so its best effort is not enough.
   */
  async #read(request: Request): Promise<QueryAnswer> {
    if (this.#nodes.length !== 2) return this.#anywhere(asking(request));
    if (performance.now() > this.#aloneUntil) {
      try {
        return await this.#until({ isPassing: isUnanswered, toError: asItIs, withinMs: bothMs }, asking(request));
      } catch (thrown) {
        if (!isSilent(thrown) && !isUnanswered(thrown)) throw toClusterError(thrown, this.#options.servers);
        this.#aloneUntil = performance.now() + aloneMs;
      }
    }
    request.setBestEffort(true);
    return this.#either(asking(request));
  }

  /** Asks all nodes at once, because a node that is away may not answer. */
  async #either<Answer>(ask: Ask<Answer>): Promise<Answer> {
    const deadline = Date.now() + this.#requestMs;
    try {
      return await Promise.any(this.#nodes.map((node) => ask(node, { deadline })));
    } catch (thrown) {
      const [first] = thrown instanceof AggregateError ? thrown.errors : [thrown];
      throw toClusterError(first, this.#options.servers);
    }
  }

  /** A query is safe to repeat, so it is retried at other nodes until the deadline. */
  #anywhere<Answer>(ask: Ask<Answer>): Promise<Answer> {
    return this.#until({ isPassing: isUnanswered, toError: toClusterError, withinMs: this.#requestMs }, ask);
  }

  /** A request that may have been carried out is not repeated. */
  #once<Answer>(ask: Ask<Answer>): Promise<Answer> {
    return this.#until({ isPassing: isUnsent, toError: toCommitError, withinMs: this.#requestMs }, ask);
  }

  async #until<Answer>({ isPassing, toError, withinMs }: Insisting, ask: Ask<Answer>): Promise<Answer> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const node = this.#pick();
      try {
        return await ask(node, { deadline });
      } catch (thrown) {
        // A silent node may be at the other end of a dead connection.
        if (isSilent(thrown) && withinMs >= this.#requestMs) node.reconnect();
        if (!isPassing(thrown) || Date.now() + tryAgainMs > deadline) throw toError(thrown, this.#options.servers);
        await delay(tryAgainMs);
      }
    }
  }

  /** Each node in turn; connected nodes first. */
  #pick(): DataNode {
    const start = this.#turn++;
    const inTurn = this.#nodes.map((_, index) => this.#nodes[(start + index) % this.#nodes.length]);
    const chosen = inTurn.find((node) => node?.isConnected) ?? inTurn[0];
    if (chosen === undefined) throw new SvcError('invalid_input', 'PRIVATE_GRAPHDB_GRPC_URL names no address.');
    return chosen;
  }
}

type Ask<Answer> = (node: DataNode, options: grpc.CallOptions) => Promise<Answer>;

interface Insisting {
  /** Whether the request may be repeated after this error. */
  readonly isPassing: (thrown: unknown) => boolean;
  readonly toError: typeof toClusterError;
  readonly withinMs: number;
}

interface QueryAnswer {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly context: TxnContext | undefined;
}

function asking(request: Request): Ask<QueryAnswer> {
  return async (node, options) => {
    const response = await node.query(request, options);
    const answers: unknown = JSON.parse(Buffer.from(response.getJson_asU8()).toString());
    if (!isObject(answers) || !('seen' in answers)) throw new Hidden(node.server);
    return { answers, context: response.getTxn() };
  };
}

/**
 * Dgraph silently omits data that the user has no right to see, and a data node that has just started does not know the
 * rights yet. So each query carries this second one: an answer without `seen`, even an empty one, comes from such a
 * node.
 */
const askRights = `seen(func: has(${ledger.key}), first: 1) { uid }`;

function asItIs(thrown: unknown): unknown {
  return thrown;
}

export function beginMoment(): Moment {
  return { context: new TxnContext() };
}

function mutationOf({ set, remove }: Change): Mutation {
  const mutation = new Mutation();
  mutation.setSetNquads(Buffer.from(nQuads(set)));
  mutation.setDelNquads(Buffer.from(nQuads(remove)));
  return mutation;
}

/** Collects what Dgraph says about a transaction: the commit returns it to Dgraph. */
function join({ context }: Moment, said: TxnContext | undefined): void {
  if (said === undefined) return;
  if (context.getStartTs() === 0) context.setStartTs(said.getStartTs());
  context.setHash(said.getHash());
  for (const key of said.getKeysList()) context.addKeys(key);
  for (const predicate of said.getPredsList()) context.addPreds(predicate);
}

/** Replaces blank names of nodes that an earlier request of this transaction created by their uids. */
function withUids({ set, remove }: Change, uids: ReadonlyMap<string, string>): Change {
  if (uids.size === 0) return { set, remove };
  const known = (quad: Quad): Quad => {
    const subject = uids.get(quad.subject) ?? quad.subject;
    if (quad.kind !== 'edge') return { ...quad, subject };
    return { ...quad, subject, target: uids.get(quad.target) ?? quad.target };
  };
  return { set: set.map(known), remove: remove.map(known) };
}
