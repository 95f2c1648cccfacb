import { notedTree, type TreeRoot } from './process-tree.ts';
import type { Look, Process } from './processes.ts';

/** How often trees are looked at. A look takes some milliseconds, for any number of trees. */
export const noteIntervalMs = 5000;

/** The processes of one tree that a look has seen. */
export interface WatchedTree {
  /** Looks now. Never rejects: without a look, the known processes stay. */
  note(): Promise<void>;
  known(): readonly Process[];
  /** Keeps the known processes, and stops looking. */
  end(): void;
}

/**
 * Records the processes of trees while they live. A process that leaves session and environment and loses its parent is
 * known only from an earlier look. A process that does so between two looks is lost.
 */
export class TreeWatch {
  readonly #look: Look;
  readonly #trees = new Set<(now: readonly Process[]) => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor(look: Look) {
    this.#look = look;
  }

  watch(root: TreeRoot): WatchedTree {
    let known: readonly Process[] = [];
    const take = (now: readonly Process[]) => {
      known = notedTree(root, known, now);
    };
    this.#trees.add(take);
    this.#timer ??= setInterval(() => void this.#noteAll(), noteIntervalMs).unref();
    return {
      note: () => this.#noteAll(),
      known: () => known,
      end: () => {
        this.#trees.delete(take);
        if (this.#trees.size > 0 || this.#timer === null) return;
        clearInterval(this.#timer);
        this.#timer = null;
      },
    };
  }

  async #noteAll(): Promise<void> {
    const now = await this.#look().catch(() => null);
    if (now !== null) for (const take of this.#trees) take(now);
  }
}
