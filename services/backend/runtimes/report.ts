import type { Reason, ReportedTool, ReportReply, ServerReport } from '../../contracts/bus/messages.ts';
import {
  type ReadableReport,
  type RefusedEntry,
  type RefusedTool,
  type ReportPart,
  readReport,
} from '../../contracts/bus/report-lines.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { mcpServersMax } from '../../contracts/workspace-limits.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { abortSignalOf } from '../../kit/cancellation.ts';
import { giveWay } from '../../kit/give-way.ts';
import { processKey, type Sender, senderOf } from '../bus/sender.ts';
import { toBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import {
  compareTools,
  type LeftOut,
  listsMore,
  type StoreResult,
  storeTools,
  toolSliceMax,
  toolsPerServerMax,
  unlistTools,
} from '../tools/store-tools.ts';
import { findAssigned, requireRuntime } from './assigned.ts';

import { type Claim, type Claiming, claimLists } from './claim-lists.ts';
import { hear } from './hear.ts';
import type { WithProcesses } from './processes.ts';
import { RuntimePlaces } from './runtime-places.ts';
import { removeStatuses, type SaidOfServer, writeStatuses } from './statuses.ts';
import { askForListsAgain, isBeingStored, othersThan, setAsideReason } from './tool-lists.ts';
import type { Turns } from './turns.ts';

type ReportNeeds = WithGraph & WithBus & WithProcesses;

/**
 * Stores the reports of runtimes about their MCP servers, one report of a process after the other. Several backends
 * take turns.
 */
export function answerReports(backend: ReportNeeds, turns: Turns): Subscription {
  const places = new RuntimePlaces('reports');
  return backend.bus.respond(
    patterns.report,
    async ({ subject, payload, signal }) => {
      const sender = senderOf(patterns.report, subject);
      const runtime = await requireRuntime(backend.graph, sender.runtime);
      return await places.take(runtime, async () => {
        const turn = processKey(sender);
        if (turns.queued(turn) >= queuedMax) throw tooManyReports();
        const until = AbortSignal.any([abortSignalOf(signal), AbortSignal.timeout(storedWithinMs)]);
        const reply = await turns.take(turn, () => storeReport(backend, sender, { payload, until }));
        return { payload: toBody(reply), headers: {} };
      });
    },
    { queue: 'backend' },
  );
}

/** Reports of one process: one being stored, one whose sender gave up on it, and the next. */
const queuedMax = 3;
/** A runtime waits for 30 s. Its next report need not repeat entries that were stored until then. */
const storedWithinMs = 30_000;
/** A workspace has half as many MCP servers. The rest is for MCP servers that were just removed. */
const reportedByCustomerMax = 2 * mcpServersMax;

function tooManyReports(): SvcError {
  return new SvcError('rate_limited', 'Earlier reports of this process are still being stored.', {
    hint: 'Send one report at a time.',
  });
}

interface ReceivedReport {
  readonly payload: Uint8Array;
  /** Aborts when the sender does not wait any more. */
  readonly until: AbortSignal;
}

/**
 * Stores tools slice by slice, then statuses, so that a reader that sees an MCP server Connected finds its tools. MCP
 * servers of another runtime are skipped and named in the answer, because they may have just been moved.
 */
async function storeReport(
  backend: ReportNeeds,
  sender: Sender,
  { payload, until }: ReceivedReport,
): Promise<ReportReply> {
  requireTime(until);
  const runtime = await requireRuntime(backend.graph, sender.runtime);
  const parts = readReport(payload, toolSliceMax, runtime.home === platformHome ? undefined : reportedByCustomerMax);
  const report = firstOf(parts);
  hear(backend, sender, { whole: report.complete });
  const reportedIds = [...report.mcpServers, ...report.refused].map(({ mcpServer }) => mcpServer);
  const servers = await findAssigned(backend.graph, runtime, reportedIds);
  const listing = report.mcpServers.flatMap((said): readonly Claiming[] => {
    const server = servers.get(said.mcpServer);
    return server === undefined || said.tools === undefined || !isCurrent(server, said)
      ? []
      : [{ server, report: said }];
  });
  const claims = await claimLists(backend, sender, listing);
  const lists = new Map(
    listing.map(({ server }) => [server.id, new ToolList(backend.graph, server, claims.get(server.id) ?? 'aside')]),
  );
  for (const part of parts) {
    await giveWay();
    requireTime(until);
    if (part.kind === 'tools') await lists.get(part.mcpServer)?.take(part.tools, part.refused);
  }
  const { said, faults } = await judge({ report, servers, lists, until });
  await writeStatuses(backend, sender, said, () => requireTime(until));
  for (const list of lists.values()) await askOthers(backend, sender, list);
  const reported = new Set(reportedIds);
  if (report.complete) await removeStatuses(backend, sender, reported);
  return {
    refused: [...reported].filter((id) => !servers.has(id)),
    ...(faults.length === 0 ? {} : { faults }),
  };
}

interface ReportVerdict {
  readonly said: readonly SaidOfServer[];
  readonly faults: NonNullable<ReportReply['faults']>;
}

interface ReportWithLists {
  readonly report: ReadableReport;
  readonly servers: ReadonlyMap<McpServerId, Node<'mcpServer'>>;
  readonly lists: ReadonlyMap<McpServerId, ToolList>;
  readonly until: AbortSignal;
}

/** Decides which entries of each MCP server are stored or refused. */
async function judge({ report, servers, lists, until }: ReportWithLists): Promise<ReportVerdict> {
  const said: SaidOfServer[] = [];
  const faults: { mcpServer: McpServerId; why: string }[] = [];
  for (const one of report.mcpServers) {
    const { mcpServer } = one;
    const server = servers.get(mcpServer);
    if (server === undefined) continue;
    requireTime(until);
    const list = lists.get(mcpServer);
    const reason = (await list?.end()) ?? null;
    const why = report.refusedLists.get(mcpServer) ?? list?.fault ?? null;
    if (why !== null) faults.push({ mcpServer, why });
    said.push({ server, report: one, toolsReason: why === null ? reason : listRefusedReason(server, why) });
  }
  for (const refused of report.refused) {
    const server = servers.get(refused.mcpServer);
    if (server === undefined) continue;
    faults.push({ mcpServer: refused.mcpServer, why: refused.why });
    said.push({ server, report: refusedReport(server, refused), toolsReason: null });
  }
  return { said, faults };
}

/** Stored parts stay, so that the next report has less to store. */
function requireTime(until: AbortSignal): void {
  if (until.aborted) throw new SvcError('timeout', 'The report was not stored completely in time.');
}

/** The status for an MCP server whose entry was refused: its state is unknown. */
function refusedReport(server: Node<'mcpServer'>, { mcpServer, configVersion, why }: RefusedEntry): ServerReport {
  return {
    ...{ mcpServer, configVersion: configVersion ?? server.configVersion, status: 'Error', health: 'red' },
    ...{ restarts: 0, startedAt: null, nextRetryAt: null, stderr: [] },
    reason: {
      code: 'report_refused',
      message: `The status report for the MCP server "${server.name}" was refused: ${why}.`,
      repair: 'Update the runtime, or correct the MCP server: svc server show NAME.',
    },
  };
}

function listRefusedReason({ name }: Node<'mcpServer'>, why: string): Reason {
  return {
    code: 'tools_refused',
    message: `The list of tools of the MCP server "${name}" was refused: ${why}. Agents still see the previous list.`,
    repair: 'Correct the tool list of the MCP server, then restart it.',
  };
}

/** Includes this process when it was compared with an incomplete list, because no other process will ask it. */
async function askOthers(backend: ReportNeeds, sender: Sender, { server, claim, hasChanged }: ToolList): Promise<void> {
  const of = { mcpServer: server.id, workspace: server.workspace };
  if (hasChanged) await askForListsAgain(backend, of, sender);
  if (claim !== 'aside-of-unstored') return;
  const others = await othersThan(backend.graph, sender, server);
  if (!others.some((status) => isBeingStored(status, server))) await askForListsAgain(backend, of);
}

/** Tools of an earlier configuration are ignored. */
function isCurrent(server: Node<'mcpServer'>, said: ServerReport): boolean {
  return said.configVersion === server.configVersion;
}

function firstOf(parts: Generator<ReportPart, void, undefined>): ReadableReport {
  const first = parts.next();
  if (first.done !== true && first.value.kind === 'report') return first.value.report;
  throw new SvcError('invalid_input', 'The report is empty.');
}

/** Collects the tools of one MCP server while its report is read. */
class ToolList {
  readonly server: Node<'mcpServer'>;
  readonly claim: Claim;
  readonly #graph: Graph;
  /** All names it lists, left-out ones included: they are not removed. */
  readonly #listed = new Set<string>();
  readonly #leftOut: LeftOut[] = [];
  #differs = false;
  #fault: string | null = null;

  constructor(graph: Graph, server: Node<'mcpServer'>, claim: Claim) {
    this.#graph = graph;
    this.server = server;
    this.claim = claim;
  }

  /** Another process's list counts: this one is only compared with it. */
  get #isAside(): boolean {
    return this.claim !== 'counts';
  }

  /** Whether agents now see another list than before. */
  get hasChanged(): boolean {
    return this.#differs && !this.#isAside;
  }

  /** Why the graph refused it; null when it did not. */
  get fault(): string | null {
    return this.#fault;
  }

  async take(tools: readonly ReportedTool[], refused: readonly RefusedTool[]): Promise<void> {
    this.#leftOut.push(...refused);
    await this.#guarded(() => this.#takeSlice(tools));
  }

  /** Ends the list. Returns the reason to show, or null. */
  async end(): Promise<Reason | null> {
    const rest = this.#isAside ? listsMore : unlistTools;
    await this.#guarded(async () => {
      const hasRest = await rest(this.#graph, this.server, this.#listed);
      this.#differs ||= hasRest;
    });
    if (this.#fault !== null) return null;
    return this.#isAside && this.#differs ? setAsideReason : this.#leftOutReason(this.server.name);
  }

  /** A fault in one list must not keep the rest of the report from being stored. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    if (this.#fault !== null) return;
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof SvcError) || thrown.code !== 'invalid_input') throw thrown;
      this.#fault = thrown.message;
    }
  }

  async #takeSlice(tools: readonly ReportedTool[]): Promise<void> {
    const fresh: ReportedTool[] = [];
    for (const tool of tools) {
      if (this.#listed.has(tool.name)) continue;
      if (this.#listed.size < toolsPerServerMax) fresh.push(tool);
      else this.#leftOut.push({ name: tool.name, why: `an MCP server may list at most ${toolsPerServerMax} tools` });
      this.#listed.add(tool.name);
    }
    const { leftOut, hasChanged } = await this.#store(fresh);
    this.#differs ||= hasChanged;
    for (const { name } of leftOut) this.#listed.delete(name);
    this.#leftOut.push(...leftOut);
  }

  async #store(tools: readonly ReportedTool[]): Promise<StoreResult> {
    if (!this.#isAside) return await storeTools(this.#graph, this.server, tools);
    const { leftOut, changed } = await compareTools(this.#graph, this.server, tools);
    return { leftOut, hasChanged: changed.length > 0 };
  }

  #leftOutReason(server: string): Reason | null {
    const [first] = this.#leftOut;
    if (first === undefined) return null;
    const others = this.#leftOut.length - 1;
    const names = this.#leftOut.slice(0, namesMax).map(({ name }) => `"${name.slice(0, nameLengthMax)}"`);
    const more = this.#leftOut.length > namesMax ? ` and ${this.#leftOut.length - namesMax} more` : '';
    return {
      code: 'tools_left_out',
      message: `Not all tools of the MCP server "${server}" can be offered. Left out: ${names.join(', ')}${more}. The first because ${first.why}.`,
      repair:
        others > 0 ? 'Make the MCP server list fewer or smaller tools.' : 'Make the MCP server list it otherwise.',
    };
  }
}

const namesMax = 10;
const nameLengthMax = 100;
