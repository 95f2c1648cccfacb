import type { Assigned } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import type { Log, Logger } from '../../kit/log.ts';
import type { Launchers } from '../launchers/launch.ts';
import type { Answer, Call } from './call.ts';
import { CallRefused } from './call-refused.ts';
import { McpServer, type Snapshot } from './mcp-server.ts';
import { StartGate } from './start-gate.ts';

export interface SupervisorOptions {
  readonly launchers: Launchers;
  readonly version: string;
  readonly log: Log;
  /** Deadline of a start, from the launch to the list of tools, for MCP servers without their own. */
  readonly startMaxMs: number;
  /** How long a call may be silent. An MCP server with an open call may be busy for as long. */
  readonly callMaxMs: number;
}

/** Called when an MCP server has something to report; `gone` when it no longer belongs to this runtime. */
export type SupervisorListener = (mcpServer: McpServerId, what: 'changed' | 'gone') => void;

/** How long a removed MCP server may finish its calls. */
const removeDrainMs = 10_000;

/** All MCP servers of this runtime process: starts and stops them by the backend's assignments. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #logger: Logger;
  /** Includes MCP servers that are ending, because they may be assigned again before they have ended. */
  readonly #mcpServers = new Map<McpServerId, McpServer>();
  readonly #gate = new StartGate();
  #listener: SupervisorListener = () => {};
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#logger = options.log('supervisor');
  }

  listen(listener: SupervisorListener): void {
    this.#listener = listener;
  }

  /** Makes the running MCP servers equal to the assigned ones. */
  apply(assignments: readonly Assigned[]): void {
    if (this.#stopping) return;
    const wanted = new Map(assignments.map((assignment) => [assignment.mcpServer, assignment]));
    for (const id of this.ids) if (!wanted.has(id)) this.#remove(id);
    for (const assignment of wanted.values()) this.#assign(assignment);
  }

  /** Calls an MCP server. Each instance has its own tools, so equal names do not conflict. */
  call(mcpServer: McpServerId, call: Call): Promise<Answer> {
    const found = this.#find(mcpServer);
    if (found !== undefined) return found.call(call);
    return Promise.reject(
      new CallRefused('unavailable', `This runtime does not run the MCP server "${mcpServer}" now.`, {
        hint: 'Show where it runs: svc server list',
      }),
    );
  }

  restart(mcpServer: McpServerId): void {
    if (!this.#stopping) this.#find(mcpServer)?.restart();
  }

  get ids(): readonly McpServerId[] {
    return [...this.#mcpServers.keys()].filter((id) => this.#find(id) !== undefined);
  }

  /** Resolves when no process of a removed one is left. */
  async ended(mcpServer: McpServerId): Promise<void> {
    const found = this.#mcpServers.get(mcpServer);
    if (found?.isStopped === true) await found.ended;
  }

  get inFlight(): number {
    return this.#mcpServers.values().reduce((sum, one) => sum + one.inFlight, 0);
  }

  snapshot(mcpServer: McpServerId): Snapshot | null {
    return this.#find(mcpServer)?.snapshot() ?? null;
  }

  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#mcpServers.values().map((one) => one.stop(drainMs)));
    this.#mcpServers.clear();
  }

  #find(mcpServer: McpServerId): McpServer | undefined {
    const found = this.#mcpServers.get(mcpServer);
    return found?.isStopped === true ? undefined : found;
  }

  #assign(assignment: Assigned): void {
    const { mcpServer, name, configVersion } = assignment;
    const existing = this.#find(mcpServer);
    if (existing === undefined) {
      this.#take(assignment);
    } else if (isOther(existing.assignment, assignment)) {
      this.#logger.info({ mcpServer, mcpServerName: name, configVersion }, 'took a changed configuration');
      existing.run(assignment);
    } else {
      existing.rename(assignment);
    }
  }

  #take(assignment: Assigned): void {
    const { mcpServer, name } = assignment;
    const taken = this.#mcpServers.get(mcpServer) ?? this.#newMcpServer(assignment);
    this.#mcpServers.set(mcpServer, taken);
    this.#logger.info({ mcpServer, mcpServerName: name }, 'took an MCP server');
    taken.run(assignment);
    this.#listener(mcpServer, 'changed');
  }

  #newMcpServer(assignment: Assigned): McpServer {
    const { launchers, startMaxMs, callMaxMs, version } = this.#options;
    return new McpServer(assignment, {
      launchers,
      version,
      startMaxMs,
      callMaxMs,
      gate: this.#gate,
      logger: this.#logger,
      onChange: () => this.#listener(assignment.mcpServer, 'changed'),
    });
  }

  #remove(mcpServer: McpServerId): void {
    const removed = this.#mcpServers.get(mcpServer);
    if (removed === undefined) return;
    this.#logger.info({ mcpServer, mcpServerName: removed.assignment.name }, 'released an MCP server');
    const stopped = removed.stop(removeDrainMs);
    this.#listener(mcpServer, 'gone');
    void stopped.then(() => {
      if (this.#mcpServers.get(mcpServer) === removed && removed.isStopped) this.#mcpServers.delete(mcpServer);
    });
  }
}

/** Whether the present instance, running or refused, must be replaced. */
function isOther(before: Assigned, now: Assigned): boolean {
  return before.configVersion !== now.configVersion || refusalIn(before) !== refusalIn(now);
}

function refusalIn(assignment: Assigned): string | null {
  return 'refused' in assignment ? assignment.refused.message : null;
}
