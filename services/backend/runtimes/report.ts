import type { Reason, Report, ReportedTool, ReportReply, ServerReport } from '../../contracts/bus/messages.ts';
import { type ReportPart, readReport } from '../../contracts/bus/report-lines.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { Backend } from '../context.ts';
import type { Graph, Node } from '../graph/graph.ts';
import {
  compareTools,
  type LeftOut,
  listsMore,
  type Stored,
  storeTools,
  toolSliceMax,
  toolsPerServerMax,
  unlistTools,
} from '../tools/store-tools.ts';
import { toBody } from '../wire.ts';
import { findAssigned } from './assigned.ts';
import { type Claim, type Claiming, claimLists } from './claim-lists.ts';
import { hear } from './hear.ts';
import { processKey, type Sender, senderOf } from './sender.ts';
import { removeStatuses, type SaidOfServer, writeStatuses } from './statuses.ts';
import { askForListsAgain, isBeingStored, othersThan, setAsideReason } from './tool-lists.ts';
import type { Turns } from './turns.ts';

type Context = Pick<Backend, 'graph' | 'bus' | 'processes'>;

/** Takes in what runtimes say of their MCP servers, one report of a process after the other. Backends answer in turn. */
export function answerReports(backend: Context, turns: Turns): Subscription {
  return backend.bus.respond(
    patterns.report,
    async ({ subject, payload }) => {
      const sender = senderOf(patterns.report, subject);
      const reply = await turns.take(processKey(sender), () => storeReport(backend, sender, payload));
      return { payload: toBody(reply), headers: {} };
    },
    { queue: 'backend', concurrencyMax },
  );
}

/** Reports may be large and wait for their turn; a runtime that is refused reports again. */
const concurrencyMax = 64;

/**
 * Stores tools slice by slice, then statuses, so that who sees an MCP server Connected finds its tools. What is not the runtime's to report
 * about is left alone and named in the answer: it may just have been given to another.
 */
async function storeReport(backend: Context, sender: Sender, payload: Uint8Array): Promise<ReportReply> {
  const parts = readReport(payload, toolSliceMax);
  const report = firstOf(parts);
  hear(backend, sender, { whole: report.complete });
  const servers = await serversOf(backend, sender, report);
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
    if (part.kind !== 'tools') continue;
    await lists.get(part.mcpServer)?.take(part.tools);
  }
  const said: SaidOfServer[] = [];
  for (const one of report.mcpServers) {
    const server = servers.get(one.mcpServer);
    if (server === undefined) continue;
    said.push({ server, report: one, toolsReason: (await lists.get(one.mcpServer)?.end()) ?? null });
  }
  await writeStatuses(backend, sender, said);
  for (const list of lists.values()) await askOthers(backend, sender, list);
  const reported = new Set(report.mcpServers.map(({ mcpServer }) => mcpServer));
  if (report.complete) await removeStatuses(backend, sender, reported);
  return { refused: [...reported].filter((id) => !servers.has(id)) };
}

/** Also this process itself, where it was compared with what was not all there yet and nobody will ask it. */
async function askOthers(backend: Context, sender: Sender, { server, claim, hasChanged }: ToolList): Promise<void> {
  const of = { mcpServer: server.id, workspace: server.workspace };
  if (hasChanged) await askForListsAgain(backend, of, sender);
  if (claim !== 'aside-of-unstored') return;
  const others = await othersThan(backend.graph, sender, server);
  if (!others.some((status) => isBeingStored(status, server))) await askForListsAgain(backend, of);
}

/** Tools of an earlier configuration are nobody's business any more. */
function isCurrent(server: Node<'mcpServer'>, said: ServerReport): boolean {
  return said.configVersion === server.configVersion;
}

async function serversOf({ graph }: Context, sender: Sender, report: Report) {
  const runtime = await graph.find('runtime', sender.runtime, null);
  if (runtime === null || runtime.revokedAt !== null) {
    throw new SvcError('unauthenticated', 'This runtime was revoked.');
  }
  return await findAssigned(
    graph,
    runtime,
    report.mcpServers.map(({ mcpServer }) => mcpServer),
  );
}

function firstOf(parts: Generator<ReportPart, void, undefined>): Report {
  const first = parts.next();
  if (first.done !== true && first.value.kind === 'report') return first.value.report;
  throw new SvcError('invalid_input', 'The report is empty.');
}

/** The tools of one MCP server as its report goes by. */
class ToolList {
  readonly server: Node<'mcpServer'>;
  readonly claim: Claim;
  readonly #graph: Graph;
  /** Names it lists, those left out too: they are not gone. */
  readonly #listed = new Set<string>();
  readonly #leftOut: LeftOut[] = [];
  #differs = false;

  constructor(graph: Graph, server: Node<'mcpServer'>, claim: Claim) {
    this.#graph = graph;
    this.server = server;
    this.claim = claim;
  }

  /** Another process's list counts: this one is only compared with it. */
  get #isAside(): boolean {
    return this.claim !== 'counts';
  }

  /** What agents see is another than before. */
  get hasChanged(): boolean {
    return this.#differs && !this.#isAside;
  }

  async take(tools: readonly ReportedTool[]): Promise<void> {
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

  /** All of it has come. Returns what is to be said of it. */
  async end(): Promise<Reason | null> {
    const rest = this.#isAside ? listsMore : unlistTools;
    const hasRest = await rest(this.#graph, this.server, this.#listed);
    this.#differs ||= hasRest;
    return this.#isAside && this.#differs ? setAsideReason(this.server) : this.#leftOutReason(this.server.name);
  }

  async #store(tools: readonly ReportedTool[]): Promise<Stored> {
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
