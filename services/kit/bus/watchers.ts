import type { Logger } from '../log.ts';
import { withBugReported } from '../report-bug.ts';
import type { Subscription } from './bus.ts';
import type { Turns } from './turns.ts';

/** Listeners, each called in its own turn; an error in one is logged as a bug. */
export class Watchers<News> {
  readonly #turns: Turns;
  readonly #logger: Logger;
  /** Wrapped, because two may register the same function. */
  readonly #watching = new Set<{ readonly watcher: (news: News) => void }>();

  constructor(turns: Turns, logger: Logger) {
    this.#turns = turns;
    this.#logger = logger;
  }

  add(watcher: (news: News) => void): Subscription {
    const own = { watcher };
    this.#watching.add(own);
    return { stop: async () => void this.#watching.delete(own) };
  }

  tell(news: News): void {
    for (const { watcher } of this.#watching) this.#turns.later({ run: () => this.#tellOne(watcher, news) });
  }

  #tellOne(watcher: (news: News) => void, news: News): void {
    try {
      watcher(news);
    } catch (thrown) {
      withBugReported(thrown, this.#logger);
    }
  }
}
