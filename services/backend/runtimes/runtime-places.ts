import { Budget } from '../../kit/budget.ts';
import type { Node } from '../graph/graph.ts';

/** What one backend does at once for all runtimes: each of it holds a large message, or pages of launches. */
const total = 64;
/** Of a runtime: as many questions as it may have under way. Of a workspace, or of the platform: two runtimes that ask as much as they may. */
const shares = { runtime: 8, workspace: 16 };

/** Work of one kind for runtimes, such as handshakes: however many runtimes one workspace has, those of others get places too. */
export class RuntimePlaces {
  readonly #places: Budget<'runtime' | 'workspace'>;

  constructor(what: string) {
    this.#places = new Budget({ what, total, shares, hint: 'Try again shortly.' });
  }

  /** Throws `rate_limited` or `unavailable` if the runtime gets no place. */
  async take<Result>({ id, home }: Node<'runtime'>, work: () => Promise<Result>): Promise<Result> {
    const place = this.#places.hold({ runtime: id, workspace: home }, 1);
    try {
      return await work();
    } finally {
      place.release();
    }
  }
}
