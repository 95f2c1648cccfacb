import { runtimeEndIn, runtimeOrEnd } from '../../contracts/bus/ends.ts';
import { BoundedLog } from '../bounded-log.ts';
import type { Logger } from '../log.ts';
import { withBugReported } from '../report-bug.ts';
import type { Message, SubscribeOptions, Subscription } from './bus.ts';
import type { Turn, Turns } from './turns.ts';

const pendingMaxDefault = 10_000;
/** A slow consumer is logged again after this many further lost messages. */
const droppedPerLine = 10_000;

type Handle = (message: Message) => void | Promise<void>;

export interface Wiring {
  readonly turns: Turns;
  readonly logger: Logger;
  /** Removes the listener from the routes. */
  readonly leave: () => void;
}

/** One subscription: its waiting messages and the one in its handler. */
export class Subscriber implements Turn, Subscription {
  readonly kind = 'subscriber';
  readonly pattern: string;
  readonly #handle: Handle;
  readonly #wiring: Wiring;
  readonly #pendingMax: number;
  readonly #failures: BoundedLog;
  #pending: Message[] = [];
  #next = 0;
  #scheduled = false;
  #handling: Promise<void> | null = null;
  #stopped = false;
  #dropped = 0;

  constructor(pattern: string, handle: Handle, options: SubscribeOptions, wiring: Wiring) {
    this.pattern = pattern;
    this.#handle = handle;
    this.#pendingMax = options.pendingMax ?? pendingMaxDefault;
    this.#wiring = wiring;
    this.#failures = new BoundedLog(wiring.logger);
  }

  /** Takes a message that is this subscriber's own copy. */
  hear(message: Message): void {
    if (this.#pending.length - this.#next >= this.#pendingMax) this.#dropOldest();
    this.#pending.push(message);
    this.#proceed();
  }

  run(): void {
    this.#scheduled = false;
    const message = this.#stopped ? undefined : this.#take();
    if (message === undefined) return;
    try {
      const handled = this.#handle(message);
      if (handled instanceof Promise) this.#handling = this.#finish(message, handled);
    } catch (thrown) {
      this.#failed(message, thrown);
    }
    if (this.#handling === null) this.#proceed();
  }

  async stop(): Promise<void> {
    this.end();
    await this.#handling;
  }

  /** Stops receiving; a running handler continues. */
  end(): void {
    this.#stopped = true;
    this.#pending = [];
    this.#next = 0;
    this.#wiring.leave();
  }

  #proceed(): void {
    if (this.#scheduled || this.#handling !== null || this.#next === this.#pending.length) return;
    this.#scheduled = true;
    this.#wiring.turns.later(this);
  }

  #take(): Message | undefined {
    const message = this.#pending[this.#next++];
    if (this.#next === this.#pending.length) {
      this.#pending = [];
      this.#next = 0;
    } else if (this.#next >= this.#pendingMax) {
      this.#pending.splice(0, this.#next);
      this.#next = 0;
    }
    return message;
  }

  async #finish(message: Message, handled: Promise<void>): Promise<void> {
    try {
      await handled;
    } catch (thrown) {
      this.#failed(message, thrown);
    }
    this.#handling = null;
    this.#proceed();
  }

  #dropOldest(): void {
    this.#take();
    if (this.#dropped++ % droppedPerLine === 0) {
      this.#wiring.logger.warn(
        { pattern: this.pattern, dropped: this.#dropped, pendingMax: this.#pendingMax },
        'dropped messages that a slow consumer left waiting',
      );
    }
  }

  /** A runtime can send any number of messages that fail. */
  #failed({ subject }: Message, thrown: unknown): void {
    const error = withBugReported(thrown, this.#wiring.logger);
    if (error.code === 'internal') return;
    const end = runtimeEndIn(subject);
    const sender = end === null ? this.pattern : runtimeOrEnd(end);
    this.#failures.write(sender, { pattern: this.pattern, sender, err: error }, 'failed to handle a message');
  }
}
