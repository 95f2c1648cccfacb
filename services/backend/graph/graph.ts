import type { Id, WorkspaceId } from '../../contracts/ids.ts';
import type { FieldKind, idKindOf, Schema, TypeName } from './schema.ts';

/**
 * The graph: the backend's storage. Engines: SQLite, Dgraph. Reads are selections, each one round trip; writes are transactions.
 * The contract suite tests every promise of this interface on both engines.
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

  /** The number of nodes of a selection, over all pages. */
  count<Type extends TypeName>(selection: Selection<Type>): Promise<number>;

  /**
   * The nodes at the other ends of edges, for many nodes in one round trip.
   * Ids without such edges get an empty list. At most `limitEach` per node, ordered by id.
   */
  follow<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    from: readonly string[],
    options: FollowOptions<Type>,
  ): Promise<ReadonlyMap<string, readonly Node<EdgeTarget<Type, Name>>[]>>;

  /** Like `follow`, against the direction of the edge. */
  followBack<Type extends TypeName, Name extends EdgeName<Type>>(
    edge: Edge<Type, Name>,
    to: readonly string[],
    options: FollowOptions<Type>,
  ): Promise<ReadonlyMap<string, readonly Node<Type>[]>>;

  /**
   * Runs `work` in a transaction. When the promise resolves, everything is stored durably; when it rejects, nothing is.
   * `work` sees a snapshot and its own writes. After a conflict it runs again, so it must have no other effect.
   * Two transactions that write the same node conflict, so a rule over several nodes writes a guard node (the workspace).
   * `work` awaits the transaction only: it has ten seconds (`timeout`), and a nested `write` would wait for itself.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;

  /** Throws `unavailable` unless the engine answers. */
  ready(): Promise<void>;

  close(): Promise<void>;
}

export interface Transaction extends Pick<Graph, 'find' | 'findBy' | 'select' | 'count' | 'follow' | 'followBack'> {
  /** Throws `conflict` with the names of the fields if another node has the unique combination. */
  create<Type extends TypeName>(type: Type, node: NewNode<Type>): Promise<Node<Type>>;
  /** Throws `not_found`, or `conflict` if the node has another version than `ifVersion` or a unique combination is taken. */
  update<Type extends TypeName>(
    type: Type,
    id: NodeId<Type>,
    changes: Partial<FieldValues<Type>>,
    options: UpdateOptions<Type>,
  ): Promise<Node<Type>>;
  /** Removes a node with every edge from and to it. Idempotent. */
  remove<Type extends TypeName>(type: Type, id: NodeId<Type>, anchor: Anchor<Type>): Promise<void>;
  /** Adds edges; edges are a set. Throws `not_found` if an end is missing or in another workspace. */
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
  /** Every condition must hold. Only indexed fields may be compared. */
  readonly where?: readonly Condition<Type>[];
  /** Each word must begin a word of a search field of the type; case and accents do not count. Without words: all nodes. */
  readonly search?: string;
  /** An indexed field, ordered by bytes or numbers; nodes without a value come last. Default: the id, thus the time of creation. `'everywhere'` allows no other order. */
  readonly orderBy?: IndexedField<Type>;
  readonly descending?: boolean;
  /** Between 1 and `pageMax`. */
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
  /** The cursor of the next page; null after the last page. */
  readonly next: Cursor | null;
}

/** Opaque to callers: the indexed value and the id of the last node of a page. */
export type Cursor = string & { readonly cursor: unique symbol };

export interface FollowOptions<Type extends TypeName> {
  /** The workspace of the nodes that the edges start from. Edges of other workspaces do not count, in either direction. */
  readonly anchor: Anchor<Type>;
  /** Between 1 and `pageMax`. The number of found edges, not the product of both limits, must stay below `edgesMax`. */
  readonly limitEach: number;
  /** The most characters in all texts of the nodes together; more are `too_large`. */
  readonly textMax?: number;
}

export interface Edge<Type extends TypeName, Name extends EdgeName<Type>> {
  readonly from: Type;
  readonly edge: Name;
}

/** Owned types are reached through their workspace. `'everywhere'` is only for the platform's own maintenance. */
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
/** The caller makes the id, because a ciphertext may need it as associated data. */
export type NewNode<Type extends TypeName> = FullFields<Type> & Owner<Type> & { readonly id: NodeId<Type> };

export interface UpdateOptions<Type extends TypeName> {
  readonly anchor: Anchor<Type>;
  readonly ifVersion?: number;
  /** For values that the platform itself notes: the node keeps its version. */
  readonly keepsVersion?: boolean;
}

export const pageMax = 1000;
/** The most edges of one `follow` or `followBack`: bounds the memory of an answer. */
export const edgesMax = 50_000;

/** Arguments with a graph among them. */
export interface WithGraph {
  readonly graph: Graph;
}
