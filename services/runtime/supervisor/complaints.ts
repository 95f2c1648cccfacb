import type { Reason } from '../../contracts/bus/messages.ts';
import type { ToolList } from './tool-list.ts';

/** Invalid lines before they are reported: a few at the start are common. */
const garbageMax = 20;

/** Faults of an instance that works nevertheless. */
export class Complaints {
  #unreadable: Reason | null = null;
  #garbage = 0;
  #hasBug = false;

  /** Its list of tools could not be read again; null once it could. */
  unreadable(reason: Reason | null): void {
    this.#unreadable = reason;
  }

  /** Counts a line that is not MCP. False after too many, so that further ones are not logged. */
  garbage(): boolean {
    return ++this.#garbage <= garbageMax;
  }

  /**
   * Notes a bug of the runtime in handling its output. False after the first, because every line may cause the same.
   */
  bug(): boolean {
    const isFirst = !this.#hasBug;
    this.#hasBug = true;
    return isFirst;
  }

  /** The most important one. */
  first(tools: ToolList | null): Reason | null {
    return this.#unreadable ?? tools?.omitted ?? (this.#garbage < garbageMax ? null : tooMuchGarbage);
  }
}

const tooMuchGarbage: Reason = {
  code: 'not_only_mcp',
  message: 'It writes lines to its standard output that are not MCP messages.',
  repair: 'Make it write its log to standard error.',
};
