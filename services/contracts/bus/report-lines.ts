import { z } from 'zod';
import { SvcError } from '../errors.ts';
import { id } from '../id-schema.ts';
import type { McpServerId } from '../ids.ts';
import { shownLine } from '../shown-text.ts';
import { toolNameLengthMax } from '../workspace-limits.ts';
import { countValues } from './count-values.ts';
import {
  definitionLengthMax,
  type Report,
  type ReportedTool,
  reportedServersMax,
  reportedTool,
  reportedToolsMax,
  type ServerReport,
  serverReport,
} from './messages.ts';

/**
 * Payload of `svc.report.<runtime>.<process>`: lines of JSON. The report comes first, then the tools of its MCP servers
 * in their order, `tools` of each. Lines, so that ten thousand tools are written and read in slices and do not block
 * calls.
 */
export function* reportLines(whole: Report, toolsOf: (mcpServer: McpServerId) => readonly ReportedTool[]) {
  yield JSON.stringify(whole);
  for (const { mcpServer, tools } of whole.mcpServers) {
    if (tools === undefined) continue;
    for (const tool of toolsOf(mcpServer)) yield JSON.stringify(tool);
  }
}

/** The readable parts of a report: a fault in one MCP server's part leaves the others valid. */
export interface ReadableReport extends Report {
  /** MCP servers whose entry is refused. */
  readonly refused: readonly RefusedEntry[];
  /** Why the list of tools of an MCP server is refused. Its entry is valid and then has no `tools`. */
  readonly refusedLists: ReadonlyMap<McpServerId, string>;
}

export interface RefusedEntry {
  readonly mcpServer: McpServerId;
  /** Null when the entry has none. */
  readonly configVersion: number | null;
  readonly why: string;
}

/** A line that is not a tool. */
export interface RefusedTool {
  readonly name: string;
  readonly why: string;
}

/** Results of `readReport`, in order: the report, then slices of tools. */
export type ReportPart =
  | { readonly kind: 'report'; readonly report: ReadableReport }
  | {
      readonly kind: 'tools';
      readonly mcpServer: McpServerId;
      readonly tools: readonly ReportedTool[];
      readonly refused: readonly RefusedTool[];
    };

/**
 * Reads a payload in slices; the caller lets other work run in between. Throws `invalid_input` for a fault that belongs
 * to no MCP server, and `too_large` for more than `serversMax` MCP servers.
 */
export function* readReport(
  payload: Uint8Array,
  sliceMax: number,
  serversMax: number = reportedServersMax,
): Generator<ReportPart, void, undefined> {
  const lines = new Lines(payload);
  const valuesMax = valuesBesideEntriesMax + serversMax * valuesPerEntryMax;
  const firstLine = lines.next();
  if (countValues(firstLine, valuesMax) > valuesMax) throw wrong(`it holds more than ${valuesMax} values`);
  const first = envelope.safeParse(jsonIn(firstLine));
  if (!first.success) throw wrong(`its first line is not a report (${pathOf(first)})`);
  const count = first.data.mcpServers.length;
  if (count > serversMax) {
    throw new SvcError('too_large', `The report names ${count} MCP servers, more than the ${serversMax} it may name.`);
  }
  const entries = first.data.mcpServers.map(readEntry);
  refuseRepeated(entries);
  const announced = entries.reduce((sum, { toolLines }) => sum + toolLines, 0);
  const counted = lines.countLeft(toolLinesMax);
  if (counted > toolLinesMax) throw wrong(`it has more than ${toolLinesMax} lines`);
  if (announced !== counted) refuseLists(entries, `the report holds ${counted} tools and announces ${announced}`);
  yield { kind: 'report', report: readable(first.data.complete, entries) };
  if (announced !== counted) return;
  for (const entry of entries) yield* readTools(lines, entry, sliceMax);
}

/** More than the shortest tools that fit in a report. */
const toolLinesMax = 200_000;

/** An entry has 34 values with all lines of stderr. The rest is room for members of later versions. */
const valuesPerEntryMax = 40;
const valuesBesideEntriesMax = 100;
/** A tool has two members. The rest is room for members of later versions. */
const valuesPerToolMax = 100;
/** A larger slice would hold the event loop for too long: parsing definitions takes 20 ms a MiB. */
const sliceEnoughBytes = 256 * 1024;
/** JSON writes one character with six bytes at most. */
const toolLineMaxBytes = 6 * (toolNameLengthMax + definitionLengthMax) + 1024;

const envelope = z.object({ complete: z.boolean(), mcpServers: z.array(z.unknown()).max(reportedServersMax) });
const named = z.looseObject({ mcpServer: id('mcpServer') });
const versioned = serverReport.pick({ configVersion: true });
const listing = z.object({ tools: z.number().int().nonnegative().default(0) });

/** One MCP server's part of a report while it is read. */
interface Entry {
  readonly mcpServer: McpServerId;
  readonly configVersion: number | null;
  /** Number of its lines that follow, accepted or not. */
  readonly toolLines: number;
  /** Null when the entry is refused. */
  said: ServerReport | null;
  whyRefused: string;
  whyListRefused: string | null;
}

function readEntry(given: unknown): Entry {
  const known = named.safeParse(given);
  if (!known.success) throw wrong('an entry of it does not name its MCP server');
  const { mcpServer } = known.data;
  const toolLines = listing.safeParse(given).data?.tools ?? Number.NaN;
  const isCountable = toolLines <= reportedToolsMax;
  const parsed = serverReport.safeParse(isCountable ? given : { ...known.data, tools: undefined });
  return {
    mcpServer,
    configVersion: versioned.safeParse(given).data?.configVersion ?? null,
    toolLines: Number.isNaN(toolLines) ? 0 : toolLines,
    said: parsed.success ? parsed.data : null,
    whyRefused: parsed.success ? '' : `the field "${pathOf(parsed)}" is invalid`,
    whyListRefused: isCountable ? null : `the number of its tools must be 0 to ${reportedToolsMax}`,
  };
}

function refuseRepeated(entries: readonly Entry[]): void {
  const seen = new Map<McpServerId, Entry>();
  for (const entry of entries) {
    const before = seen.get(entry.mcpServer);
    seen.set(entry.mcpServer, before ?? entry);
    if (before === undefined) continue;
    for (const one of [before, entry]) {
      one.said = null;
      one.whyRefused = 'the report names it twice';
    }
  }
}

/** Refuses every list: the ends of the lists are unknown. */
function refuseLists(entries: readonly Entry[], why: string): void {
  for (const entry of entries) if (entry.said?.tools !== undefined) entry.whyListRefused ??= why;
}

function readable(complete: boolean, entries: readonly Entry[]): ReadableReport {
  const refused = new Map<McpServerId, RefusedEntry>();
  const refusedLists = new Map<McpServerId, string>();
  const mcpServers: ServerReport[] = [];
  for (const { mcpServer, configVersion, said, whyRefused, whyListRefused } of entries) {
    if (said === null) refused.set(mcpServer, { mcpServer, configVersion, why: whyRefused });
    else if (whyListRefused === null) mcpServers.push(said);
    else {
      const { tools: _, ...rest } = said;
      mcpServers.push(rest);
      refusedLists.set(mcpServer, whyListRefused);
    }
  }
  return { complete, mcpServers, refused: [...refused.values()], refusedLists };
}

function* readTools(lines: Lines, entry: Entry, sliceMax: number): Generator<ReportPart, void, undefined> {
  const isTaken = entry.said !== null && entry.whyListRefused === null;
  for (let at = 0; at < entry.toolLines; ) {
    const tools: ReportedTool[] = [];
    const refused: RefusedTool[] = [];
    let bytes = 0;
    for (let inSlice = 0; inSlice < sliceMax && bytes < sliceEnoughBytes && at < entry.toolLines; inSlice++) {
      at++;
      const line = lines.next();
      bytes += line.length;
      if (isTaken) readTool(line, at, { tools, refused });
    }
    yield { kind: 'tools', mcpServer: entry.mcpServer, tools, refused };
  }
}

function readTool(bytes: Uint8Array, at: number, into: { tools: ReportedTool[]; refused: RefusedTool[] }): void {
  if (bytes.length > toolLineMaxBytes || countValues(bytes, valuesPerToolMax) > valuesPerToolMax) {
    into.refused.push({ name: `tool ${at}`, why: 'its line is longer than that of any tool, or holds more values' });
    return;
  }
  const line = jsonIn(bytes);
  const tool = reportedTool.safeParse(line);
  if (tool.success) {
    into.tools.push(tool.data);
    return;
  }
  const given = z.object({ name: z.string() }).safeParse(line);
  const name = given.success ? shownLine(given.data.name, nameShownMax) : `tool ${at}`;
  into.refused.push({ name, why: line === undefined ? 'its line is not JSON' : (refusals[pathOf(tool)] ?? noTool) });
}

const nameShownMax = 100;
const noTool = 'the line does not describe a tool';
const refusals: Readonly<Record<string, string>> = {
  name: 'its name must have 1 to 1000 characters, without control characters, invisible characters and halves of surrogate pairs',
  definition: 'its definition must be well-formed text of at most 1 MiB',
};

function pathOf({ error }: { readonly error?: z.ZodError }): string {
  return error?.issues[0]?.path.join('.') ?? '';
}

const newline = 10;

const decoder = new TextDecoder();

/** Undefined, which is no JSON value, when the line is not JSON. */
function jsonIn(line: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(line));
  } catch {
    return undefined;
  }
}

/** Lines of a payload, one at a time. */
class Lines {
  readonly #payload: Uint8Array;
  #at = 0;

  constructor(payload: Uint8Array) {
    this.#payload = payload;
  }

  get #ended(): boolean {
    return this.#at >= this.#payload.length;
  }

  /** Lines that follow; `max` plus one when there are more. */
  countLeft(max: number): number {
    let count = 0;
    for (let at = this.#at; at < this.#payload.length && count <= max; count++) {
      const found = this.#payload.indexOf(newline, at);
      at = found === -1 ? this.#payload.length : found + 1;
    }
    return count;
  }

  next(): Uint8Array {
    if (this.#ended) return this.#payload.subarray(0, 0);
    const found = this.#payload.indexOf(newline, this.#at);
    const end = found === -1 ? this.#payload.length : found;
    const line = this.#payload.subarray(this.#at, end);
    this.#at = end + 1;
    return line;
  }
}

function wrong(why: string): SvcError {
  return new SvcError('invalid_input', `The report is refused: ${why}.`);
}
