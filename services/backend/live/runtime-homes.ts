import { findId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import { BoundedMap } from '../../kit/bounded-map.ts';
import type { WithGraph } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';

/** Some hundred bytes each. */
const runtimesMax = 10_000;

export type RuntimeHome = WorkspaceId | typeof platformHome;

/** The workspace of each runtime that was heard, looked up once: a runtime never changes its home. */
export class RuntimeHomes {
  readonly #backend: WithGraph;
  readonly #homes = new BoundedMap<Promise<RuntimeHome | null>>(runtimesMax);

  constructor(backend: WithGraph) {
    this.#backend = backend;
  }

  /** Null for an unknown runtime, and while the graph cannot be read: the next heartbeat asks again. */
  async find(runtime: RuntimeId): Promise<RuntimeHome | null> {
    const known = this.#homes.get(runtime);
    if (known !== undefined) return await known;
    const home = this.#read(runtime);
    this.#homes.set(runtime, home);
    return await home;
  }

  async #read(runtime: RuntimeId): Promise<RuntimeHome | null> {
    try {
      const node = await this.#backend.graph.find('runtime', runtime, null);
      if (node === null) return null;
      return node.home === platformHome ? platformHome : findId('workspace', node.home);
    } catch {
      this.#homes.delete(runtime);
      return null;
    }
  }
}
