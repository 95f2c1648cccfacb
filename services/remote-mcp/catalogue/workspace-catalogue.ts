import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Catalogue } from './catalogue.ts';
import type { CatalogueRequest, Pulled } from './pull.ts';

export interface WorkspaceCatalogueOptions {
  readonly pull: (asked: CatalogueRequest, signal: AbortSignal) => Promise<Pulled>;
  readonly onChange: (present: Catalogue) => void;
  readonly log: Logger;
}

/** Versions are compared this often, so that a lost event delays and never misleads. */
const compareEveryMs = 15_000;
/** The events of one change arrive within this time. */
const gatherMs = 20;
/** Pulls take at most a sixth of the time: after one that took a second, the next begins five seconds later. */
const restPerCost = 5;
/** Longer than a pull of the largest workspace takes. A pull that waits for an absent backend costs nothing. */
const restMaxMs = 5000;
/** The last of them asks for a snapshot. */
const attemptsMax = 4;
const retryFirstMs = 500;
const retryMaxMs = 15_000;

/** The catalogue of one workspace: pulled when needed, and kept while the backend is away. */
export class WorkspaceCatalogue {
  readonly #options: WorkspaceCatalogueOptions;
  readonly #stopping = new AbortController();
  #current: Catalogue | null = null;
  #etag: string | null = null;
  #pulling: Promise<void> | null = null;
  /** A change during a pull may be missing in its result. */
  #isOutdated = false;
  #timer: NodeJS.Timeout | null = null;
  #dueAt = Number.POSITIVE_INFINITY;
  #restUntil = 0;
  #failures = 0;
  usedAt = performance.now();

  constructor(options: WorkspaceCatalogueOptions) {
    this.#options = options;
  }

  get current(): Catalogue | null {
    return this.#current;
  }

  /** The first pull, or the pull in progress. Throws `unavailable`. */
  async load(): Promise<Catalogue> {
    if (this.#current === null) await this.#pull();
    if (this.#current !== null) return this.#current;
    throw new SvcError('unavailable', 'The catalogue of this workspace cannot be loaded from the backend now.', {
      hint: 'Try again shortly. An operator finds the reason: svc status.',
    });
  }

  /** Pulls again, because something may have changed. */
  refresh(): void {
    if (this.#pulling !== null) this.#isOutdated = true;
    else this.#schedule(gatherMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#pulling;
  }

  #schedule(inMs: number): void {
    const now = performance.now();
    const at = Math.max(now + inMs, this.#restUntil);
    if (at >= this.#dueAt || this.#stopping.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => void this.#pull(), at - now).unref();
  }

  #pull(): Promise<void> {
    if (this.#pulling !== null) return this.#pulling;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#isOutdated = false;
    this.#pulling = this.#pullOnce().then((nextInMs) => {
      this.#pulling = null;
      this.#schedule(this.#isOutdated ? gatherMs : nextInMs);
    });
    return this.#pulling;
  }

  /** Returns the delay until the next pull, in milliseconds. */
  async #pullOnce(): Promise<number> {
    const startedAt = performance.now();
    try {
      const pulled = await this.#pullWhole();
      this.#failures = 0;
      if (pulled.kind === 'changed') this.#use(pulled.catalogue, pulled.etag);
      const endedAt = performance.now();
      this.#restUntil = endedAt + Math.min((endedAt - startedAt) * restPerCost, restMaxMs);
      return compareEveryMs;
    } catch (thrown) {
      // Logged once, because the first pull is retried again and again.
      const level = this.#failures === 0 ? 'warn' : 'debug';
      if (!this.#stopping.signal.aborted) this.#options.log[level]({ err: thrown }, 'failed to pull a catalogue');
      return Math.min(retryFirstMs * 2 ** this.#failures++, retryMaxMs) * (0.5 + Math.random() / 2);
    }
  }

  /** In a workspace under constant change, only a snapshot succeeds. */
  async #pullWhole(): Promise<Pulled> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const asked = { etag: this.#etag, isSnapshot: attempt === attemptsMax };
      const pulled = await this.#options.pull(asked, this.#stopping.signal);
      if (pulled.kind !== 'incomplete') return pulled;
    }
    throw new SvcError('unavailable', 'The backend ended the catalogue before its end.');
  }

  #use(catalogue: Catalogue, etag: string): void {
    this.#current = catalogue;
    this.#etag = etag;
    this.#options.onChange(catalogue);
  }
}
