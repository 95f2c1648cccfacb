import type { Reason } from '../../contracts/bus/messages.ts';
import type { ToolList } from './tool-list.ts';

/** Lines that are no MCP, after which it is said: a few at the start are common. */
const garbageMax = 20;

/** What is wrong with an instance that works all the same. */
export class Complaints {
  #unreadable: Reason | null = null;
  #garbage = 0;
  #hasBug = false;

  /** Its list of tools could not be read again; null once it could. */
  unreadable(reason: Reason | null): void {
    this.#unreadable = reason;
  }

  /** A line that is no MCP. False once there were so many that one more is no news. */
  garbage(): boolean {
    return ++this.#garbage <= garbageMax;
  }

  /** A mistake of ours with what it wrote. False after the first, because it may bring the same about with every line. */
  bug(): boolean {
    const isFirst = !this.#hasBug;
    this.#hasBug = true;
    return isFirst;
  }

  /** The most telling one. */
  first(tools: ToolList | null): Reason | null {
    return this.#unreadable ?? tools?.omitted ?? (this.#garbage < garbageMax ? null : tooMuchGarbage);
  }
}

const tooMuchGarbage: Reason = {
  code: 'not_only_mcp',
  message: 'It writes lines that are no MCP messages to its standard output.',
  repair: 'Let it write its log to standard error.',
};
