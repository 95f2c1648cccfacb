import { BoundedMap } from '../../bounded-map.ts';

/** As many ends of connections as come close together, several times over. */
const rememberedMax = 4096;

/** What was heard lately, so that it is heard once. */
export class Recent {
  readonly #heard = new BoundedMap<true>(rememberedMax);

  /** What has no id is always new. */
  isNew(id: string): boolean {
    if (id === '') return true;
    if (this.#heard.get(id) !== undefined) return false;
    this.#heard.set(id, true);
    return true;
  }
}
