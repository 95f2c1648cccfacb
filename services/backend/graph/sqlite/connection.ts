import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { toGraphError } from './sqlite-errors.ts';

export type SqlValue = string | number | null;
export type Row = readonly SqlValue[];

export interface ConnectionOptions {
  readonly file: string;
  readonly readOnly: boolean;
}

/** Statements come from the schema and from call sites, so there are few. The bound limits a mistake. */
const statementsMax = 1000;

const readerLockMs = 1000;

/** One connection: prepares each statement once, returns rows as arrays, and names errors. */
export class Connection {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor({ file, readOnly }: ConnectionOptions) {
    this.file = file;
    // A wait for a lock blocks the whole thread. A writer retries instead; a reader waits only while another process recovers the file.
    this.#database = this.#named(() => new DatabaseSync(file, { readOnly, timeout: readOnly ? readerLockMs : 0 }));
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(sql: string): void {
    this.#named(() => this.#database.exec(sql));
  }

  // `setReturnArrays` makes rows arrays, which the types of node:sqlite do not know.
  rows(sql: string, values: readonly SqlValue[]): Row[] {
    return this.#named(() => this.#statement(sql).all(...values)) as unknown as Row[];
  }

  /** Like `rows`, one row at a time: the caller may stop early. */
  *eachRow(sql: string, values: readonly SqlValue[]): Generator<Row, void, undefined> {
    try {
      yield* this.#statement(sql).iterate(...values) as unknown as Iterable<Row>;
    } catch (thrown) {
      throw toGraphError(thrown, this.file);
    }
  }

  row(sql: string, values: readonly SqlValue[]): Row | null {
    return (this.#named(() => this.#statement(sql).get(...values)) as unknown as Row | undefined) ?? null;
  }

  run(sql: string, values: readonly SqlValue[]): void {
    this.#named(() => this.#statement(sql).run(...values));
  }

  /** Runs several reads on one snapshot. */
  snapshot<Result>(read: () => Result): Result {
    if (this.inTransaction) return read();
    this.run('begin', []);
    try {
      return read();
    } finally {
      this.run('commit', []);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size === statementsMax) this.#statements.clear();
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  #named<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (thrown) {
      throw toGraphError(thrown, this.file);
    }
  }
}
