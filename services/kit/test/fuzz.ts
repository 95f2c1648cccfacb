/** Random choices that a printed seed repeats: `SVC_FUZZ_SEED` sets it. */
export class Fuzz {
  readonly seed: number;
  #state: number;

  constructor(seed = Number(process.env.SVC_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))) {
    this.seed = seed;
    this.#state = seed | 0;
  }

  /** In [0, below). */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below;
  }

  index(length: number): number {
    return Math.floor(this.below(length));
  }

  of<Item>(items: readonly Item[]): Item {
    const item = items[this.index(items.length)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }

  /** The value with one part of it odd or missing. */
  oddJson(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || this.index(6) === 0) return this.of(oddValues);
    const names = Object.keys(value);
    if (names.length === 0) return this.of(oddValues);
    const name = this.of(names);
    if (Array.isArray(value)) return value.with(Number(name), this.oddJson(value[Number(name)]));
    const member: unknown = Object.entries(value).find(([one]) => one === name)?.[1];
    return { ...value, [name]: this.index(8) === 0 ? undefined : this.oddJson(member) };
  }

  /** The bytes with some of them changed, removed, inserted or doubled. */
  mutate(bytes: Uint8Array): Buffer {
    let mutated = Buffer.from(bytes);
    for (let times = 1 + this.index(4); times > 0; times--) {
      const at = this.index(mutated.length + 1);
      const to = Math.min(mutated.length, at + this.index(16));
      const [before, piece, after] = [mutated.subarray(0, at), mutated.subarray(at, to), mutated.subarray(to)];
      const put = this.of([
        Buffer.from([this.index(256)]),
        Buffer.from(this.of(tokens)),
        Buffer.concat([piece, piece]),
        none,
      ]);
      mutated = Buffer.concat([before, put, after]);
    }
    return mutated;
  }
}

const none = Buffer.alloc(0);
const tokens: readonly string[] = [
  ...[
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\n',
    '\0',
    '\ufeff',
    'null',
    'true',
    '-',
    '0',
    '1e999',
    '1.',
    '0x1',
    '""',
  ],
  ...['\\u0000', '\\ud800', '\\', '[[[[', '{"a":', '-1', '9007199254740993', '"__proto__"', '"toString"', 'NaN', '😀'],
];

const oddValues: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 53, 2 ** 40, 1e308, '', 'x', '\0', 'a\ud800', '\u001b[31m', '1'],
  ...[[], [[]], {}, { toString: 1 }, { length: -1 }, JSON.parse('{"__proto__":{"toString":1},"then":1}')],
  ...['x'.repeat(5000), Array.from({ length: 600 }, () => 'x')],
];
