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
  /** How long one request may take. */
  readonly requestMs?: number;
}

/** What a request says of the transaction it belongs to, and learns of it. */
export interface Moment {
  readonly context: TxnContext;
}

/** An answer takes milliseconds; a cluster that elects a leader takes a second or two. */
const requestTimeoutMs = 10_000;
/** Indexes are made anew, on all there is. */
const alterTimeoutMs = 120_000;
/** So long both of two nodes are waited for before one of them answers alone, and so long it goes on to. */
const bothMs = 1500;
const aloneMs = 2000;

/** The data nodes of Dgraph. Every request has a deadline; what reached nobody is asked of the next. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #nodes: readonly DataNode[];
  readonly #requestMs: number;
  #turn = 0;
  /** Until then the answer of one of two nodes will do. */
  #aloneUntil = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#requestMs = options.requestMs ?? requestTimeoutMs;
    this.#nodes = openDataNodes(options);
  }

  /**
   * Everything that has been acknowledged is seen, but for the last moment before one of two nodes went away, until it is back. With a moment:
   * as it was then, which the first question with it decides.
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
   * All of the changes, in their order, or none of them; tells the uids of new nodes. Not asked twice: what became of it could not be told.
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
    // Both are there again.
    this.#aloneUntil = 0;
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

  /**
   * Two nodes store every change both, so that while one is away nothing can change, and what the other has is all there is: it is asked for
   * that, and not to be sure that nobody knows better. Of three it could be one that the other two have left behind.
   */
  async #read(request: Request): Promise<Told> {
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

  /** Of all nodes at once, because one that is away may be silent. */
  async #either<Answer>(ask: Ask<Answer>): Promise<Answer> {
    const deadline = Date.now() + this.#requestMs;
    try {
      return await Promise.any(this.#nodes.map((node) => ask(node, { deadline })));
    } catch (thrown) {
      const [first] = thrown instanceof AggregateError ? thrown.errors : [thrown];
      throw toClusterError(first, this.#options.servers);
    }
  }

  /** A question may be asked again, of another node, until the time is over. */
  #anywhere<Answer>(ask: Ask<Answer>): Promise<Answer> {
    return this.#until({ isPassing: isUnanswered, toError: toClusterError, withinMs: this.#requestMs }, ask);
  }

  /** What may have been carried out is not asked twice. */
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
        // Whoever is silent may be at the other end of a connection that is none any more.
        if (isSilent(thrown) && withinMs >= this.#requestMs) node.reconnect();
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

type Ask<Answer> = (node: DataNode, options: grpc.CallOptions) => Promise<Answer>;

interface Insisting {
  /** Whether it may be asked again after this. */
  readonly isPassing: (thrown: unknown) => boolean;
  readonly toError: typeof toClusterError;
  readonly withinMs: number;
}

interface Told {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly context: TxnContext | undefined;
}

function asking(request: Request): Ask<Told> {
  return async (node, options) => {
    const response = await node.query(request, options);
    const answers: unknown = JSON.parse(Buffer.from(response.getJson_asU8()).toString());
    if (!isObject(answers) || !('seen' in answers)) throw new Hidden(node.server);
    return { answers, context: response.getTxn() };
  };
}

/**
 * What somebody may not see Dgraph leaves out of its answer without a word, and a data node that has only begun has not read yet what who may
 * see. So every question is asked with another, which is answered, be it with nothing, where anything is.
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

/** What Dgraph says of a transaction is said back to it when it is to be stored. */
function join({ context }: Moment, said: TxnContext | undefined): void {
  if (said === undefined) return;
  if (context.getStartTs() === 0) context.setStartTs(said.getStartTs());
  context.setHash(said.getHash());
  for (const key of said.getKeysList()) context.addKeys(key);
  for (const predicate of said.getPredsList()) context.addPreds(predicate);
}

/** A node that an earlier change of the same transaction has made is known by its uid from then on. */
function withUids({ set, remove }: Change, uids: ReadonlyMap<string, string>): Change {
  if (uids.size === 0) return { set, remove };
  const known = (quad: Quad): Quad => {
    const subject = uids.get(quad.subject) ?? quad.subject;
    if (quad.kind !== 'edge') return { ...quad, subject };
    return { ...quad, subject, target: uids.get(quad.target) ?? quad.target };
  };
  return { set: set.map(known), remove: remove.map(known) };
}
