import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import type { CancelSignal } from '../../kit/cancellation.ts';
import type { Catalogue } from './catalogue.ts';

export interface WaitFor {
  /** The current catalogue. */
  readonly present: Catalogue;
  readonly isSo: (catalogue: Catalogue) => boolean;
  readonly timeoutMs: number;
  readonly signal: CancelSignal;
}

interface Wait {
  readonly hear: (catalogue: Catalogue) => void;
  readonly lookAgain: () => void;
  readonly end: (why: SvcError) => void;
}

/** Calls that wait for a change of their catalogue. */
export class CatalogueWaits {
  readonly #waits = new Map<WorkspaceId, Set<Wait>>();
  #isStopped = false;

  /** The catalogue once it fulfils the condition, or the present one after the timeout. Throws `cancelled`, and `unavailable` at a stop. */
  async until({ present, isSo, timeoutMs, signal }: WaitFor): Promise<Catalogue> {
    if (signal.aborted) throw cancelled();
    if (isSo(present)) return present;
    if (this.#isStopped) throw stopped();
    const { promise, resolve, reject } = Promise.withResolvers<Catalogue>();
    let latest = present;
    const wait: Wait = {
      hear: (catalogue) => {
        latest = catalogue;
        if (isSo(catalogue)) resolve(catalogue);
      },
      lookAgain: () => wait.hear(latest),
      end: reject,
    };
    const cancel = { handleEvent: () => reject(cancelled()) };
    const timer = setTimeout(() => resolve(latest), timeoutMs);
    signal.addEventListener('abort', cancel);
    const waits = this.#of(present.workspace).add(wait);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      waits.delete(wait);
      if (waits.size === 0) this.#waits.delete(present.workspace);
    }
  }

  changed(catalogue: Catalogue): void {
    for (const wait of this.#waits.get(catalogue.workspace) ?? []) wait.hear(catalogue);
  }

  /** A runtime process has ended or returned, so the same catalogue may mean something else now. */
  lookAgain(): void {
    for (const waits of this.#waits.values()) for (const wait of waits) wait.lookAgain();
  }

  /** Ends all waits. */
  stop(): void {
    this.#isStopped = true;
    for (const waits of this.#waits.values()) for (const wait of waits) wait.end(stopped());
  }

  #of(workspace: WorkspaceId): Set<Wait> {
    const known = this.#waits.get(workspace) ?? new Set();
    this.#waits.set(workspace, known);
    return known;
  }
}

function stopped(): SvcError {
  return new SvcError('unavailable', 'This remote-mcp is being stopped.', { hint: 'Try again shortly.' });
}

function cancelled(): SvcError {
  return new SvcError('cancelled', 'The request was cancelled.');
}
