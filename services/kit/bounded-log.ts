import type { Logger } from './log.ts';

const windowMs = 60_000;

export interface BoundedLogOptions {
  /** Lines a minute for all senders together. */
  readonly linesMax?: number;
  /** Lines a minute for all senders of one workspace. */
  readonly linesOfWorkspaceMax?: number;
  readonly level?: 'info' | 'warn';
}

/** The proven cause of a line, so that a sender cannot use many names. Senders of one workspace share its lines. */
export type LogSender = string | { readonly sender: string; readonly workspace: string };

/**
 * Limits log lines about refusals: one line a minute for each sender, then a count. A workspace gets at most as many
 * lines as stay free, so that other workspaces can still log.
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
