import type { LaunchOrder } from './launch.ts';

const windowMs = 60_000;

export interface LineAllowanceOptions {
  /** Lines a minute of one MCP server. */
  readonly linesMax?: number;
  /** Lines a minute of all MCP servers of a workspace. */
  readonly linesOfWorkspaceMax?: number;
}

/** How many lines of standard error the log takes, so that a talkative MCP server does not displace the lines of others. */
export class LineAllowance {
  readonly #linesMax: number;
  readonly #linesOfWorkspaceMax: number;
  readonly #lines = new Map<string, number>();
  readonly #told = new Set<string>();
  #windowEnds = 0;

  constructor({ linesMax = 100, linesOfWorkspaceMax = 300 }: LineAllowanceOptions = {}) {
    this.#linesMax = linesMax;
    this.#linesOfWorkspaceMax = linesOfWorkspaceMax;
  }

  /** `over`: the first line of this minute without room. Further ones are `silent`. */
  take({ mcpServer, workspace }: Pick<LaunchOrder, 'mcpServer' | 'workspace'>): 'write' | 'over' | 'silent' {
    const now = performance.now();
    if (now >= this.#windowEnds) this.#beginWindow(now);
    const own = this.#lines.get(mcpServer) ?? 0;
    const ofWorkspace = this.#lines.get(workspace) ?? 0;
    if (own < this.#linesMax && ofWorkspace < this.#linesOfWorkspaceMax) {
      this.#lines.set(mcpServer, own + 1).set(workspace, ofWorkspace + 1);
      return 'write';
    }
    // A workspace with a thousand MCP servers is told once, too.
    const full = own < this.#linesMax ? workspace : mcpServer;
    if (this.#told.has(full)) return 'silent';
    this.#told.add(full);
    return 'over';
  }

  #beginWindow(now: number): void {
    this.#lines.clear();
    this.#told.clear();
    this.#windowEnds = now + windowMs;
  }
}
