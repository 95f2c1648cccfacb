import { SvcError } from '../../../contracts/errors.ts';
import { giveWay } from '../../../kit/give-way.ts';
import type { Transaction } from '../graph.ts';
import { checkAnchor, checkChanges, checkEdge, checkIds, checkNode, typeNamed } from '../node-rules.ts';
import { changedMeanwhile, notThere } from '../refusals.ts';
import type { Connection } from './connection.ts';
import { changeNode, findColumns, insertNode, removeNode } from './node-writes.ts';
import { edgeName } from './read-plan.ts';
import { readsOn } from './reads.ts';
import { nodesOf } from './rows.ts';
import { runFollow, runRows } from './run-plan.ts';
import { edgeTable } from './storage.ts';

export interface OpenTransaction {
  readonly transaction: Transaction;
  /** Throws the error of a failed write. The write may be half done, so the transaction must not be stored even if `work` caught the error. */
  mustBeWhole(): void;
  /** Closes the transaction: every later call fails. */
  end(): void;
}

/** The reads and writes of a transaction that `connection` has begun. A refused write has changed nothing and may be caught. */
export function openTransaction(connection: Connection): OpenTransaction {
  let open = true;
  let failure: { readonly thrown: unknown } | null = null;
  const mustBeOpen = () => {
    // After some failures SQLite has rolled back already, and a later write would be stored outside of the transaction.
    if (!open || !connection.inTransaction) throw new SvcError('internal', 'A transaction was used after its end.');
    return connection;
  };
  const writing = async <Result>(work: () => Result): Promise<Result> => {
    await giveWay();
    try {
      mustBeOpen();
      return work();
    } catch (thrown) {
      if (!isRefusal(thrown)) failure ??= { thrown };
      throw thrown;
    }
  };
  const reads = readsOn({
    point: async (plan) => runRows(mustBeOpen(), plan),
    rows: async (plan) => runRows(mustBeOpen(), plan),
    follow: async (plan) => runFollow(mustBeOpen(), plan),
  });
  return {
    mustBeWhole() {
      if (failure !== null) throw failure.thrown;
    },
    end() {
      open = false;
    },
    transaction: {
      ...reads,

      create: (type, node) =>
        writing(() => {
          const values = checkNode(type, node);
          const workspace = 'workspace' in node ? String(node.workspace) : null;
          const row = insertNode(connection, type, { id: node.id, workspace, values });
          return oneOf(nodesOf<typeof type>(type, [row]));
        }),

      update: (type, id, changes, { anchor, ifVersion, keepsVersion = false }) =>
        writing(() => {
          const checked = checkChanges(type, changes);
          const before = findColumns(connection, type, id, checkAnchor(type, anchor));
          if (before === null) throw notThere(type, id);
          if (ifVersion !== undefined && ifVersion !== before.version) {
            throw changedMeanwhile(type, id, { is: Number(before.version), expected: ifVersion });
          }
          return oneOf(
            nodesOf<typeof type>(type, [changeNode(connection, type, before, { values: checked, keepsVersion })]),
          );
        }),

      remove: (type, id, anchor) =>
        writing(() => {
          if (findColumns(connection, type, id, checkAnchor(type, anchor)) !== null) removeNode(connection, type, id);
        }),

      link: ({ from, edge }, source, targets) =>
        writing(() => {
          const target = checkEdge(from, edge);
          checkIds(targets);
          const home = findColumns(connection, from, source, null);
          if (home === null) throw notThere(from, source);
          const workspace = typeNamed(from).owned && typeNamed(target).owned ? String(home.workspace) : null;
          for (const id of targets) {
            if (findColumns(connection, target, id, workspace) === null) throw notThere(target, id);
          }
          const sql = `insert or ignore into ${edgeTable} (name, source, target) values (?, ?, ?)`;
          for (const id of targets) connection.run(sql, [edgeName(from, edge), source, id]);
        }),

      unlink: ({ from, edge }, source, targets) =>
        writing(() => {
          checkEdge(from, edge);
          checkIds(targets);
          const sql = `delete from ${edgeTable} where name = ? and source = ? and target = ?`;
          for (const id of targets) connection.run(sql, [edgeName(from, edge), source, id]);
        }),
    },
  };
}

const refusals: readonly string[] = ['invalid_input', 'not_found', 'conflict'];

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof SvcError && refusals.includes(thrown.code);
}

function oneOf<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('A row was expected.');
  return item;
}
