/** A map of bounded size. The entry that was read least recently goes first. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(name: string): Value | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    this.#values.delete(name);
    this.#values.set(name, value);
    return value;
  }

  set(name: string, value: Value): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size <= this.#sizeMax) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [name, value] of this.#values) if (matches(value)) this.#values.delete(name);
  }

  clear(): void {
    this.#values.clear();
  }
}
