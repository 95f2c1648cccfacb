const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * A value that must not be seen: it prints, serialises and concatenates as `[secret]` unless it is revealed on purpose.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect](): string {
    return '[secret]';
  }
}
