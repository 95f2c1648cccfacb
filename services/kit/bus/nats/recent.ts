import { BoundedMap } from '../../bounded-map.ts';

/** Several times the number of connections that end close together. */
const rememberedMax = 4096;

/** Remembers recent ids, to handle each report once. */
export class Recent {
  readonly #heard = new BoundedMap<true>(rememberedMax);

  /** A report without an id is always new. */
  isNew(id: string): boolean {
    if (id === '') return true;
    if (this.#heard.get(id) !== undefined) return false;
    this.#heard.set(id, true);
    return true;
  }
}
