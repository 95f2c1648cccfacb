import type { Subscription } from './bus.ts';

/** What a connection has put down and not taken back. */
export class Subscriptions {
  readonly #running = new Set<Subscription>();

  add(subscription: Subscription): Subscription {
    this.#running.add(subscription);
    return {
      stop: () => {
        this.#running.delete(subscription);
        return subscription.stop();
      },
    };
  }

  /** Takes back all of it; resolves when what is under way has finished. */
  async stop(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((subscription) => subscription.stop()));
  }
}
