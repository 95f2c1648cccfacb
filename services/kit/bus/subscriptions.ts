import type { Subscription } from './bus.ts';

/** The open subscriptions of a connection. */
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

  /** Stops every subscription; resolves when running handlers have finished. */
  async stop(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((subscription) => subscription.stop()));
  }
}
