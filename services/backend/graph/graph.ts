import type { Id, WorkspaceId } from '../../contracts/ids.ts';
import type { FieldKind, idKindOf, Schema, TypeName } from './schema.ts';

/**
 * The graph: the backend's storage. Engines: SQLite, Dgraph. Reads are selections, each one round trip; writes are transactions.
 * What an engine cannot keep is not promised here: the contract suite says row by row what is.
 */
export interface Graph {
  /** A node by its id, or null. An owned node is found only in the workspace given. */
  find<Type extends TypeName>(type: Type, id: NodeId<Type>, anchor: Anchor<Type>): Promise<Node<Type> | null>;

  /** A node by the values, none of them null, of exactly one of its type's unique combinations, or null. */
  findBy<Type extends TypeName>(
    type: Type,
    values: FieldValues<Type>,
    anchor: Anchor<Type>,
  ): Promise<Node<Type> | null>;

  /** A page of nodes, ordered by an indexed field and then by id. */
  select<Type extends TypeName>(selection: Selection<Type>): Promise<Page<Type>>;

  /** How many nodes a selection has, whatever its page. */
  count<Type extends TypeName>(selection: Selection<Type>): Promise<number>;

  /**
   * The nodes at the other ends of edges, for many nodes at once (one round trip): forward, or reverse where `reverse`.
   * Ids without such edges get an empty list. At most `limitEach` per node, ordered by id.
   */
  follow<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    from: readonly string[],
    options: FollowOptions<Type>,
  ): Promise<ReadonlyMap<string, readonly Node<EdgeTarget<Type, Name>>[]>>;

  /** As `follow`, against the direction of the edge. */
  followBack<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    to: readonly string[],
    options: FollowOptions<Type>,
  ): Promise<ReadonlyMap<string, readonly Node<Type>[]>>;

  /**
   * Runs `work` in a transaction: all of it is stored, durably, when the promise resolves, or nothing of it.
   * On a conflict with another transaction `work` runs again, from the start, so it must have no other effect. It sees a snapshot and its own
   * writes. Two transactions that write the same node conflict; a rule over several nodes writes a guard node (the workspace).
   * `work` awaits the transaction and nothing else: it has ten seconds (`timeout`), and a `write` inside it would wait for its own end.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;

  /** Is the engine answering? Throws `unavailable`. */
  ready(): Promise<void>;

  close(): Promise<void>;
}

export interface Transaction extends Pick<Graph, 'find' | 'findBy' | 'select' | 'count' | 'follow' | 'followBack'> {
  /** Throws `conflict`, naming the fields, where a unique combination is taken. */
  create<Type extends TypeName>(type: Type, node: NewNode<Type>): Promise<Node<Type>>;
  /** Throws `not_found`; `conflict` where `ifVersion` is not the node's version or a unique combination is taken. */
  update<Type extends TypeName>(
    type: Type,
    id: NodeId<Type>,
    changes: Partial<FieldValues<Type>>,
    options: UpdateOptions<Type>,
  ): Promise<Node<Type>>;
  /** Removes a node and every edge from and to it. Removing what is not there is no error. */
  remove<Type extends TypeName>(type: Type, id: NodeId<Type>, anchor: Anchor<Type>): Promise<void>;
  /** Adds edges; edges are a set. Throws `not_found` where an end is not there or is in another workspace. */
  link<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    from: NodeId<Type>,
    to: readonly string[],
  ): Promise<void>;
  unlink<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    from: NodeId<Type>,
    to: readonly string[],
  ): Promise<void>;
}

export interface Selection<Type extends TypeName> {
  readonly type: Type;
  readonly anchor: Anchor<Type>;
  /** All must hold. Only indexed fields may be compared. */
  readonly where?: readonly Condition<Type>[];
  /** Every word must begin a word of one of the type's search fields, whatever its case and accents. Without words: all nodes. */
  readonly search?: string;
  /** An indexed field, in the order of bytes or numbers; nodes without a value come last. Default: by id, which is by time of creation, and the only order `'everywhere'`. */
  readonly orderBy?: IndexedField<Type>;
  readonly descending?: boolean;
  /** 1 to `pageMax`. */
  readonly limit: number;
  readonly after?: Cursor;
}

export type Condition<Type extends TypeName> =
  | { readonly field: IndexedField<Type>; readonly equals: string | number | boolean }
  | { readonly field: IndexedField<Type>; readonly in: readonly (string | number)[] }
  | { readonly field: IndexedField<Type>; readonly prefix: string }
  | { readonly field: IndexedField<Type>; readonly from?: number; readonly below?: number };

export interface Page<Type extends TypeName> {
  readonly nodes: readonly Node<Type>[];
  /** Where the next page starts, or null where there is none. */
  readonly next: Cursor | null;
}

/** Opaque to callers: the indexed value and the id of the last node of a page. */
export type Cursor = string & { readonly cursor: unique symbol };

export interface FollowOptions<Type extends TypeName> {
  /** Of the type that the edge starts from: what lies in another workspace has no edges here, in either direction. */
  readonly anchor: Anchor<Type>;
  /** 1 to `pageMax`; times the number of nodes it may be more than `edgesMax`, as long as the edges are not. */
  readonly limitEach: number;
  /** Characters in all texts of the nodes together: more are `too_large`. */
  readonly textMax?: number;
}

export interface Edge<Type extends TypeName, Name extends EdgeName<Type>> {
  readonly from: Type;
  readonly edge: Name;
}

/** Owned types are reached through their workspace and no other way; `'everywhere'` is for the platform's own chores only. */
export type Anchor<Type extends TypeName> = Schema[Type]['owned'] extends true ? WorkspaceId | 'everywhere' : null;

export type NodeId<Type extends TypeName> = Id<(typeof idKindOf)[Type]>;
export type EdgeName<Type extends TypeName> = keyof Schema[Type]['edges'] & string;
export type EdgeTarget<Type extends TypeName, Name extends EdgeName<Type>> = Schema[Type]['edges'][Name] & TypeName;
export type IndexedField<Type extends TypeName> = Schema[Type]['index'][number];

type ValueOf<Kind extends FieldKind> = Kind extends 'text'
  ? string
  : Kind extends 'integer' | 'time'
    ? number
    : Kind extends 'boolean'
      ? boolean
      : Kind extends 'text?'
        ? string | null
        : number | null;

type Fields<Type extends TypeName> = Schema[Type]['fields'];
export type FullFields<Type extends TypeName> = {
  readonly [Name in keyof Fields<Type>]: ValueOf<Fields<Type>[Name] & FieldKind>;
};
export type FieldValues<Type extends TypeName> = Partial<FullFields<Type>>;
type Owner<Type extends TypeName> = Schema[Type]['owned'] extends true ? { readonly workspace: WorkspaceId } : unknown;

export type Node<Type extends TypeName> = FullFields<Type> &
  Owner<Type> & { readonly id: NodeId<Type>; readonly version: number };
/** The id is made by the caller where it is needed before (associated data of a ciphertext), else by the engine's caller-side code. */
export type NewNode<Type extends TypeName> = FullFields<Type> & Owner<Type> & { readonly id: NodeId<Type> };

export type UpdateOptions<Type extends TypeName> = { readonly anchor: Anchor<Type>; readonly ifVersion?: number };

export const pageMax = 1000;
/** Edges that one `follow` or `followBack` may give: more would be a page that nobody can hold. */
export const edgesMax = 50_000;

/** For functions that take a graph among other things. */
export interface WithGraph {
  readonly graph: Graph;
}
