import { SvcError } from '../errors.ts';
import type { McpServerId } from '../ids.ts';
import { type Report, type ReportedTool, report, reportedTool, type ServerReport } from './messages.ts';

/**
 * Payload of `svc.report.<runtime>.<process>`: lines of JSON, the report first, then the tools of its MCP servers, in their order, as many of
 * each as its `tools` says. Lines, because ten thousand tools are then written and read in slices and nothing blocks calls meanwhile.
 */
export function* reportLines(whole: Report, toolsOf: (mcpServer: McpServerId) => readonly ReportedTool[]) {
  yield JSON.stringify(whole);
  for (const { mcpServer, tools } of whole.mcpServers) {
    if (tools === undefined) continue;
    for (const tool of toolsOf(mcpServer)) yield JSON.stringify(tool);
  }
}

/** What `readReport` finds, in order: the report, then one slice of tools after the other. */
export type ReportPart =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'tools'; readonly mcpServer: McpServerId; readonly tools: readonly ReportedTool[] };

/** Reads a payload slice by slice; the caller yields to others in between. Throws `invalid_input` where lines are wrong or missing. */
export function* readReport(payload: Uint8Array, sliceMax: number): Generator<ReportPart, void, undefined> {
  const lines = new Lines(payload);
  const first = report.safeParse(lines.nextJson());
  if (!first.success) throw wrong(`its first line is no report (${first.error.issues[0]?.path.join('.')})`);
  yield { kind: 'report', report: first.data };
  for (const server of first.data.mcpServers) yield* readTools(lines, server, sliceMax);
  if (!lines.ended) throw wrong('it has more lines than its MCP servers have tools');
}

function* readTools(lines: Lines, server: ServerReport, sliceMax: number): Generator<ReportPart, void, undefined> {
  let missing = server.tools ?? 0;
  while (missing > 0) {
    const tools: ReportedTool[] = [];
    for (; missing > 0 && tools.length < sliceMax; missing--) {
      const tool = reportedTool.safeParse(lines.nextJson());
      if (!tool.success)
        throw wrong(`a tool of ${server.mcpServer} is malformed (${tool.error.issues[0]?.path.join('.')})`);
      tools.push(tool.data);
    }
    yield { kind: 'tools', mcpServer: server.mcpServer, tools };
  }
}

const newline = 10;

/** Lines of a payload, decoded one at a time. */
class Lines {
  readonly #payload: Uint8Array;
  readonly #decoder = new TextDecoder();
  #at = 0;

  constructor(payload: Uint8Array) {
    this.#payload = payload;
  }

  get ended(): boolean {
    return this.#at >= this.#payload.length;
  }

  nextJson(): unknown {
    if (this.ended) throw wrong('it ends before its last tool');
    const found = this.#payload.indexOf(newline, this.#at);
    const end = found === -1 ? this.#payload.length : found;
    const line = this.#decoder.decode(this.#payload.subarray(this.#at, end));
    this.#at = end + 1;
    try {
      return JSON.parse(line);
    } catch (cause) {
      throw wrong('a line of it is not JSON', cause);
    }
  }
}

function wrong(why: string, cause?: unknown): SvcError {
  return new SvcError('invalid_input', `The report is refused: ${why}.`, { cause });
}
