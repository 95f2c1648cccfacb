import type { Assigned } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import type { Log, Logger } from '../../kit/log.ts';
import type { Launchers } from '../launchers/launch.ts';
import { CallRefused } from './call-refused.ts';
import type { Answer, Call } from './conversation.ts';
import { McpServer, type Snapshot } from './mcp-server.ts';
import { StartGate } from './start-gate.ts';

export interface SupervisorOptions {
  readonly launchers: Launchers;
  readonly version: string;
  readonly log: Log;
  /** What a start may take, from the launch to the list of tools. */
  readonly startMaxMs: number;
}

/** Hears that something about an MCP server is to be reported; `gone` when it is none of this runtime's any more. */
export type SupervisorListener = (mcpServer: McpServerId, what: 'changed' | 'gone') => void;

/** What an MCP server that is taken away may still do with the calls it has. */
const removeDrainMs = 10_000;

/** All MCP servers of this runtime process: starts and stops them as the backend assigns them. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #logger: Logger;
  /** Those that are ending too: they may be assigned again before they have ended. */
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

  /** Makes what runs equal to what is assigned. */
  apply(assignments: readonly Assigned[]): void {
    if (this.#stopping) return;
    const wanted = new Map(assignments.map((assignment) => [assignment.mcpServer, assignment]));
    for (const id of this.ids) if (!wanted.has(id)) this.#remove(id);
    for (const assignment of wanted.values()) this.#assign(assignment);
  }

  /** The answer of an MCP server. Every instance has tools of its own, so equal names never meet here. */
  call(mcpServer: McpServerId, call: Call): Promise<Answer> {
    const found = this.#find(mcpServer);
    if (found !== undefined) return found.call(call);
    return Promise.reject(
      new CallRefused('unavailable', `This runtime does not run the MCP server "${mcpServer}" now.`, {
        hint: 'See where it runs: svc server list.',
      }),
    );
  }

  restart(mcpServer: McpServerId): void {
    if (!this.#stopping) this.#find(mcpServer)?.restart();
  }

  get ids(): readonly McpServerId[] {
    return [...this.#mcpServers.keys()].filter((id) => this.#find(id) !== undefined);
  }

  /** Nothing is left of one that was let go of. */
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
    const { launchers, startMaxMs, version } = this.#options;
    return new McpServer(assignment, {
      launchers,
      version,
      startMaxMs,
      gate: this.#gate,
      logger: this.#logger,
      onChange: () => this.#listener(assignment.mcpServer, 'changed'),
    });
  }

  #remove(mcpServer: McpServerId): void {
    const removed = this.#mcpServers.get(mcpServer);
    if (removed === undefined) return;
    this.#logger.info({ mcpServer, mcpServerName: removed.assignment.name }, 'let go of an MCP server');
    const stopped = removed.stop(removeDrainMs);
    this.#listener(mcpServer, 'gone');
    void stopped.then(() => {
      if (this.#mcpServers.get(mcpServer) === removed && removed.isStopped) this.#mcpServers.delete(mcpServer);
    });
  }
}

/** Whether what there is of it, running or refused, cannot stay. */
function isOther(before: Assigned, now: Assigned): boolean {
  return before.configVersion !== now.configVersion || refusalIn(before) !== refusalIn(now);
}

function refusalIn(assignment: Assigned): string | null {
  return 'refused' in assignment ? assignment.refused.message : null;
}
