import type { Logger } from './log.ts';

const windowMs = 60_000;

export interface BoundedLogOptions {
  /** Lines a minute, whatever the number of senders. */
  readonly linesMax?: number;
  /** Of them, lines of one workspace, whatever the number of its senders. */
  readonly linesOfWorkspaceMax?: number;
  readonly level?: 'info' | 'warn';
}

/** Who caused a line: proven, so that nobody may choose many names. Senders of one workspace share its lines. */
export type LogSender = string | { readonly sender: string; readonly workspace: string };

/**
 * Writes refusals and the like to the log at a bounded rate: each sender's once a minute, and then how many more there were. A workspace may
 * have at most as many lines as are still free, so that others get some however many senders it has.
 */
export class BoundedLog {
  readonly #logger: Logger;
  readonly #linesMax: number;
  readonly #linesOfWorkspaceMax: number;
  readonly #level: 'info' | 'warn';
  readonly #written = new Set<string>();
  readonly #linesOf = new Map<string, number>();
  #unwritten = 0;
  #windowEnds = 0;

  constructor(logger: Logger, options: BoundedLogOptions = {}) {
    const { linesMax = 60, linesOfWorkspaceMax = 10, level = 'warn' } = options;
    this.#logger = logger;
    this.#linesMax = linesMax;
    this.#linesOfWorkspaceMax = linesOfWorkspaceMax;
    this.#level = level;
  }

  write(from: LogSender, fields: object, what: string): void {
    const now = performance.now();
    if (now >= this.#windowEnds) this.#beginWindow(now);
    const { sender, workspace } = typeof from === 'string' ? { sender: from, workspace: null } : from;
    if (this.#written.has(sender) || !this.#hasRoom(workspace)) {
      this.#unwritten++;
      return;
    }
    this.#written.add(sender);
    if (workspace !== null) this.#linesOf.set(workspace, this.#linesWritten(workspace) + 1);
    this.#logger[this.#level](fields, what);
  }

  #beginWindow(now: number): void {
    if (this.#unwritten > 0) this.#logger[this.#level]({ count: this.#unwritten }, 'left out further lines');
    this.#written.clear();
    this.#linesOf.clear();
    this.#unwritten = 0;
    this.#windowEnds = now + windowMs;
  }

  #hasRoom(workspace: string | null): boolean {
    const free = this.#linesMax - this.#written.size;
    if (workspace === null) return free > 0;
    return this.#linesWritten(workspace) < Math.min(this.#linesOfWorkspaceMax, free);
  }

  #linesWritten(workspace: string): number {
    return this.#linesOf.get(workspace) ?? 0;
  }
}
