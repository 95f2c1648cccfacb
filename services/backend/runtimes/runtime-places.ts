import { Budget } from '../../kit/budget.ts';
import type { Node } from '../graph/graph.ts';

/** Concurrent tasks of one backend for all runtimes: each holds a large message, or pages of launches. */
const total = 64;
/** Of a runtime: its limit of open questions. Of a workspace, or of the platform: two runtimes at their limit. */
const shares = { runtime: 8, workspace: 16 };

/**
 * Places for one kind of task for runtimes, such as handshakes. However many runtimes one workspace has, the runtimes
 * of others get places too.
 */
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
