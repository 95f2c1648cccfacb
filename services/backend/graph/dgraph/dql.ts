/** Builds a DQL query. Values are never part of its text: each becomes a variable. */
export class Dql {
  readonly #values: string[] = [];

  /** The name of the value's variable. */
  value(value: string): string {
    return `$v${this.#values.push(value) - 1}`;
  }

  /** A list of variables, for `eq`. */
  list(values: readonly string[]): string {
    return `[${values.map((value) => this.value(value)).join(', ')}]`;
  }

  text(...blocks: readonly string[]): string {
    const declared = this.#values.map((_, index) => `$v${index}: string`).join(', ');
    return `query q${declared === '' ? '' : `(${declared})`} {\n${blocks.join('\n')}\n}`;
  }

  get variables(): ReadonlyMap<string, string> {
    return new Map(this.#values.map((value, index) => [`$v${index}`, value]));
  }
}

/** Uids as the text of a query. They come from Dgraph, so any other text is a bug. */
export function uidList(uids: readonly string[]): string {
  for (const uid of uids) if (!/^0x[0-9a-f]{1,16}$/.test(uid)) throw new Error(`"${uid}" is no uid`);
  return uids.join(', ');
}
