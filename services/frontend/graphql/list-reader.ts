export interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly next?: string | null };
}

/** The first pages of a list. Each begins where the one before it ends, so no row is missing between them. */
export interface ReadPages<Row> {
  readonly rows: readonly Row[];
  /** Where each page after the first one begins. */
  readonly cursors: readonly string[];
  readonly next: string | null;
}

interface Source<Row> {
  readonly ask: (after: string) => Promise<Page<Row>>;
  readonly onRead: (read: ReadPages<Row>) => void;
  readonly onFailed: (failed: unknown) => void;
}

/** Reads the pages behind a first page, one reading at a time. Changes during a reading make one more. */
export class ListReader<Row extends { readonly id: string }> {
  readonly #source: Source<Row>;
  #pagesWanted: number;
  #changed: Page<Row> | null = null;
  #last: ReadPages<Row> | null = null;
  #isReading = false;

  constructor(source: Source<Row>, pagesWanted: number) {
    this.#source = source;
    this.#pagesWanted = pagesWanted;
  }

  /** The list has changed, and this is its first page now. */
  changed(first: Page<Row>): void {
    this.#changed = first;
    void this.#read();
  }

  /** Reads one page more than the last reading. */
  more(): void {
    if (this.#last === null) return;
    this.#pagesWanted = Math.max(this.#pagesWanted, this.#last.cursors.length + 2);
    void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    for (let begun = this.#begin(); begun !== null; begun = this.#begin()) {
      try {
        this.#last = await this.#readOn(begun);
        this.#source.onRead(this.#last);
      } catch (failed) {
        this.#source.onFailed(failed);
        if (this.#changed === null) break;
      }
    }
    this.#isReading = false;
  }

  #begin(): ReadPages<Row> | null {
    const first = this.#changed;
    this.#changed = null;
    if (first !== null) return { rows: first.nodes, cursors: [], next: nextOf(first) };
    if (this.#last === null || this.#last.next === null) return null;
    return this.#last.cursors.length + 1 < this.#pagesWanted ? this.#last : null;
  }

  async #readOn(begun: ReadPages<Row>): Promise<ReadPages<Row>> {
    const early = this.#askEarly(begun);
    // By id: a row that is renamed meanwhile may be on two pages.
    const rows = new Map(begun.rows.map((row) => [row.id, row]));
    const cursors = [...begun.cursors];
    let { next } = begun;
    while (next !== null && cursors.length + 1 < this.#pagesWanted) {
      const page: Page<Row> = await (early.get(next) ?? this.#source.ask(next));
      for (const row of page.nodes) rows.set(row.id, row);
      cursors.push(next);
      next = nextOf(page);
    }
    return { rows: [...rows.values()], cursors, next };
  }

  /** Unless rows came or went, the cursors of the last reading are right, so their pages need not wait for each other. */
  #askEarly({ cursors, next }: ReadPages<Row>): ReadonlyMap<string, Promise<Page<Row>>> {
    const known = this.#last?.cursors ?? [];
    if (cursors.length > 0 || next === null || next !== known[0]) return new Map();
    const early = new Map(known.map((after) => [after, this.#source.ask(after)]));
    for (const page of early.values()) page.catch(() => undefined);
    return early;
  }
}

function nextOf({ pageInfo }: Page<unknown>): string | null {
  return pageInfo.next ?? null;
}
