import type { SvcError } from '../contracts/errors.ts';

export interface CancelListener {
  /** Must not throw. */
  handleEvent(): void;
}

/** Reports the cancellation of one call. An AbortSignal is one, too. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: CancelListener): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
}

const none: readonly CancelListener[] = [];

/**
 * Cancels one call. Every call has two of these. The listeners of an AbortController survive their call until the next full
 * garbage collection, together with the whole request (decision 0053).
 */
export class Cancellation implements CancelSignal {
  #reason: SvcError | undefined = undefined;
  #listeners = none;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): SvcError | undefined {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    this.#listeners = this.#listeners === none ? [listener] : [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    const others = this.#listeners.filter((other) => other !== listener);
    this.#listeners = others.length === 0 ? none : others;
  }

  /** Only the first reason counts. */
  abort(reason: SvcError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = none;
    for (const listener of listeners) listener.handleEvent();
  }
}

/** For an interface that accepts only an AbortSignal, such as those of Node. */
export function abortSignalOf(call: CancelSignal): AbortSignal {
  const controller = new AbortController();
  if (call.aborted) controller.abort(call.reason);
  else call.addEventListener('abort', { handleEvent: () => controller.abort(call.reason) });
  return controller.signal;
}
