import { openBackendClient, operatorTokens } from '../../backend-client.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { inStartOrder, type Part } from '../../parts.ts';
import type { PartRunner } from './part-runner.ts';
import { registerIdentities } from './register-identities.ts';
import { step } from './start-failure.ts';
import { type PartWatcher, SupervisedPart } from './supervised-part.ts';

export interface PlatformOptions {
  readonly plan: Plan;
  readonly runner: PartRunner;
  readonly logs: PlatformLogs;
  readonly watcher: PartWatcher;
}

/** All parts of a platform, however they are run. */
export class Platform {
  readonly #runner: PartRunner;
  readonly #logs: PlatformLogs;
  readonly #watcher: PartWatcher;
  readonly #parts = new Map<string, SupervisedPart>();
  #plan: Plan;

  constructor({ plan, runner, logs, watcher }: PlatformOptions) {
    this.#plan = plan;
    this.#runner = runner;
    this.#logs = logs;
    this.#watcher = watcher;
  }

  /** Starts each part once those that it needs are healthy. Throws a `StartFailure`; then nothing of it runs. */
  async start(signal: AbortSignal): Promise<void> {
    const starting = new Map<string, Promise<void>>();
    for (const part of inStartOrder(this.#plan.parts)) {
      const needed = Promise.all(part.after.map((name) => starting.get(name)));
      const started = needed.then(() => this.#startOne(part, signal));
      starting.set(part.name, started);
    }
    // All of them, so that none is still starting when what was started is stopped.
    const failed = (await Promise.allSettled(starting.values())).find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return;
    await this.stop();
    throw failed.reason;
  }

  /** First what needs others, then those others; what shares nothing ends at the same time. */
  async stop(): Promise<void> {
    const stopped = new Map<string, Promise<void>>();
    const parts = inStartOrder([...this.#parts.values()].map(({ part }) => part)).toReversed();
    for (const { name } of parts) {
      const users = parts.filter(({ after }) => after.includes(name));
      const free = Promise.all(users.map((user) => stopped.get(user.name)));
      const ended = free.then(() => this.#stopOne(name));
      stopped.set(name, ended);
    }
    await Promise.all(stopped.values());
    await this.#runner.close();
  }

  async #startOne(part: Part, signal: AbortSignal): Promise<void> {
    const supervised = new SupervisedPart(part, this.#runner, this.#watcher);
    this.#parts.set(part.name, supervised);
    await supervised.start(signal);
    if (part.service === 'backend') await this.#register(signal);
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { addresses, definition, environment, installation, secrets } = this.#plan;
    const tokens = operatorTokens(installation, environment.backend.JWT_ISSUER);
    const backend = openBackendClient(addresses.local.backend, tokens);
    await step('platform', 'register its identities', () =>
      registerIdentities({ backend, definition, secrets, signal }),
    );
  }

  /** One part that cannot stop must not keep the others running. */
  async #stopOne(name: string): Promise<void> {
    await this.#parts
      .get(name)
      ?.stop()
      .catch((error: unknown) => {
        this.#logs.note('error', 'a part did not stop', { part: name, reason: String(error) });
      });
    this.#parts.delete(name);
  }
}
