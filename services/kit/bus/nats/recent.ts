/** As many ends of connections as come close together, several times over. */
const rememberedMax = 4096;

/** What was heard lately, so that it is heard once. */
export class Recent {
  readonly #heard = new Set<string>();

  /** What has no id is always new. */
  isNew(id: string): boolean {
    if (id === '') return true;
    if (this.#heard.has(id)) return false;
    this.#heard.add(id);
    for (const oldest of this.#heard) {
      if (this.#heard.size <= rememberedMax) break;
      this.#heard.delete(oldest);
    }
    return true;
  }
}
