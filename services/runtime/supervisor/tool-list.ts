import { definitionLengthMax, type Reason, type ReportedTool, reportedToolsMax } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { isObject } from '../../contracts/is-object.ts';
import { isShownName } from '../../contracts/shown-text.ts';
import { toolNameLengthMax } from '../../contracts/workspace-limits.ts';
import { giveWay } from '../../kit/give-way.ts';
import { writeJson } from '../wire/write-message.ts';
import type { Conversation } from './conversation.ts';

/** The tools of an MCP server, and the reason for omitted ones. */
export interface ToolList {
  readonly tools: readonly ReportedTool[];
  /** Omitted tools are always reported. */
  readonly omitted: Reason | null;
  /** Size of the tools in a report. */
  readonly bytes: number;
}

export const noTools: ToolList = { tools: [], omitted: null, bytes: 0 };

/** An unchanged list is not reported again. */
export function sameTools(one: ToolList | null, other: ToolList): boolean {
  if (one === null || one.bytes !== other.bytes || one.tools.length !== other.tools.length) return false;
  return one.tools.every(({ definition }, at) => definition === other.tools[at]?.definition);
}

/** The size of the list in a report, which must fit into one message of the bus. */
const linesMaxBytes = 12 * 1024 * 1024;
const pagesMax = 1000;

/** Reads the whole list, page by page (MCP 2025-11-25, "Pagination"). */
export async function listTools(conversation: Conversation, timeoutMs: number): Promise<ToolList> {
  const deadline = performance.now() + timeoutMs;
  const collected = new Collected();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const params = cursor === undefined ? undefined : { cursor };
    const answer = await conversation.ask('tools/list', params, Math.max(1, deadline - performance.now()));
    const body: unknown = JSON.parse(Buffer.from(answer.payload).toString('utf8'));
    if (answer.kind === 'error' || !isObject(body) || !Array.isArray(body.tools)) throw unreadable(body);
    for (const tool of body.tools) {
      await giveWay();
      collected.add(tool);
    }
    if (typeof body.nextCursor !== 'string' || body.nextCursor === cursor) return collected.list();
    cursor = body.nextCursor;
  }
  collected.refuse('more pages', `it has more than ${pagesMax} pages`);
  return collected.list();
}

class Collected {
  readonly #tools = new Map<string, ReportedTool>();
  #bytes = 0;
  #refused = 0;
  #firstRefused = '';

  add(tool: unknown): void {
    const name = isObject(tool) && typeof tool.name === 'string' ? tool.name : '';
    const definition = writeJson(tool);
    if (definition === null) {
      this.refuse(name, 'it is nested too deeply');
      return;
    }
    const bytes = Buffer.byteLength(JSON.stringify({ name, definition })) + 1;
    const why = this.#whyNot(name, definition, bytes);
    if (why !== null) {
      this.refuse(name, why);
      return;
    }
    this.#bytes += bytes;
    this.#tools.set(name, { name, definition });
  }

  #whyNot(name: string, definition: string, bytes: number): string | null {
    if (name === '') return 'it has no name';
    if (name.length > toolNameLengthMax) return `its name is longer than ${toolNameLengthMax} characters`;
    if (!isShownName(name))
      return 'its name holds a control character, an invisible character or half of a surrogate pair';
    if (this.#tools.has(name)) return 'another tool has the same name';
    if (this.#tools.size >= reportedToolsMax) return `there are more than ${reportedToolsMax} tools`;
    if (definition.length > definitionLengthMax) return 'its description is larger than 1 MiB';
    return this.#bytes + bytes > linesMaxBytes ? 'all tools together are larger than 12 MiB' : null;
  }

  refuse(what: string, why: string): void {
    if (this.#refused++ === 0) this.#firstRefused = `"${what.slice(0, 100)}" because ${why}`;
  }

  list(): ToolList {
    const omitted = this.#refused === 0 ? null : this.#omitted();
    return { tools: [...this.#tools.values()], omitted, bytes: this.#bytes };
  }

  #omitted(): Reason {
    const others = this.#refused === 1 ? '' : ` and ${this.#refused - 1} others`;
    return {
      code: 'tools_omitted',
      message: `Not all of its tools can be used: left out are ${this.#firstRefused}${others}.`,
      repair: 'Correct the MCP server, or make it list fewer tools.',
    };
  }
}

function unreadable(body: unknown): SvcError {
  const said = isObject(body) && typeof body.message === 'string' ? `: ${body.message.slice(0, 500)}` : '';
  return new SvcError('unavailable', `It could not list its tools${said}.`);
}
