import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { updateMcpServerMutation } from '../../stack/client/generated/operations.ts';
import { AlreadyReported } from '../command.ts';
import type { Tenancy } from '../objects/platform.ts';
import { fetchServer, fetchTools, type McpServer, type Tool } from '../objects/servers.ts';
import { describeFailure, describeTools, keepsTrying } from '../output/server.ts';
import type { Terminal } from '../output/terminal.ts';
import { span } from '../output/times-and-sizes.ts';

const pollMs = 200;
/** The first start with npx on a slow connection takes more than a minute. */
const waitMinMs = 90_000;
/** A start begins a little after the command. */
const afterStartMs = 30_000;
/** A person who waits wants to see that the command still works. */
const tellMs = 5000;

/** An MCP server as the command has read or changed it. */
export interface Known {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  /** What the command did to it, such as "enabled"; absent: nothing. */
  readonly did?: string | undefined;
}

export interface Awaited extends Known {
  /** What happened before the wait, such as "added". */
  readonly done: string;
  /** The time of the earlier start, for a restart; otherwise absent. */
  readonly startedBefore?: number | null;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/**
 * Waits until the MCP server is Connected or its runtime reports an error. Disconnected is no outcome. Throws `conflict`
 * if it is not Connected because somebody else changed it during the wait.
 */
export async function awaitServer(tenancy: Tenancy, awaited: Awaited): Promise<McpServer> {
  const { name, done, startedBefore, signal, terminal } = awaited;
  const start = Date.now();
  let toldMs = 0;
  for (;;) {
    const server = await getPresent(tenancy, awaited);
    const isNewStart = startedBefore === undefined || server.lastStartedAt !== startedBefore;
    const isSettled = isNewStart && (server.status === 'Connected' || server.status === 'Error');
    const passedMs = Date.now() - start;
    const waitMs = Math.max(waitMinMs, (server.startTimeout ?? 0) * 1000 + afterStartMs);
    if (isSettled || !server.enabled || passedMs > waitMs) {
      if (server.status !== 'Connected' || !server.enabled) await requireUnchanged(tenancy, awaited);
      return server;
    }
    if (passedMs - toldMs >= tellMs) {
      toldMs = passedMs;
      const cause = server.reason === null ? 'No runtime has reported yet.' : server.reason.message;
      terminal.talk(`${terminal.paint('grey', '·')} ${span(passedMs)}: ${oneLine(cause)}`);
    }
    await pause(pollMs, undefined, { signal }).catch(() => {
      throw new SvcError('cancelled', `Interrupted. ${name} stays ${done}, and ${keepsTrying(name)}`);
    });
  }
}

/** A runtime lets calls finish for ten seconds, and then ends processes. */
const stopMs = 20_000;

/**
 * Waits until no process runs it. False if one still does after that time, or after an interruption. Throws `conflict` if
 * somebody enabled it meanwhile.
 */
export async function awaitStop(
  tenancy: Tenancy,
  { signal, ...known }: Known & { readonly signal: AbortSignal },
): Promise<boolean> {
  const end = Date.now() + stopMs;
  for (;;) {
    const server = await getPresent(tenancy, known);
    if (server.enabled) await requireUnchanged(tenancy, known);
    if (server.sandboxes.length === 0) return true;
    if (signal.aborted || Date.now() > end) return false;
    await pause(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The MCP server as it is now. Throws `conflict` if somebody removed it. */
export async function getPresent(tenancy: Tenancy, known: Known): Promise<McpServer> {
  const server = await fetchServer(tenancy.backend, tenancy.workspace.id, known.id);
  if (server !== null) return server;
  await requireUnchanged(tenancy, known);
  throw new Error('a missing MCP server took a change');
}

/** Throws `conflict` if others changed it since. The change is empty, so that only the backend's check is left of it. */
async function requireUnchanged({ backend, workspace }: Tenancy, { id, version, did }: Known): Promise<void> {
  try {
    await backend.send(updateMcpServerMutation, { workspace: workspace.id, id, input: { ifVersion: version } });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'conflict') throw error;
    const own = did === undefined ? '' : ` This command had ${did} it before.`;
    throw new SvcError('conflict', `${error.message}${own}`, { hint: 'Show the present state: svc server list' });
  }
}

export interface Outcome {
  readonly server: McpServer;
  /** What happened before the wait, such as "added". */
  readonly done: string;
  readonly terminal: Terminal;
}

/** Prints the tools, or why it is not Connected. Returns how many it lists. `more` are further fields of the JSON document. */
export async function tellOutcome(
  { backend, workspace }: Tenancy,
  { server, done, terminal }: Outcome,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const isConnected = server.status === 'Connected';
  const tools = isConnected ? await fetchTools(backend, workspace.id, server.id) : [];
  terminal.json(serverDocument(server, tools, more));
  if (isConnected) {
    terminal.result(`${terminal.paint('green', 'Connected')}\n\n${describeTools(tools, terminal)}`);
    return tools.filter((tool) => tool.listed).length;
  }
  terminal.complain(describeFailure(server, done, terminal));
  throw new AlreadyReported(1);
}

/** Many MCP servers offer tools only for the services whose settings they have. */
export function tellWithoutTools(name: string, terminal: Terminal): void {
  terminal.talk(
    `\nA setting may be missing. Read what it wrote: svc server logs ${name}. Then set it: svc server update ${name} --env NAME`,
  );
}

/** The JSON document of the commands that wait. */
export function serverDocument(
  { id, name, status, health, reason, stderr }: McpServer,
  tools: readonly Tool[],
  more: Readonly<Record<string, unknown>> = {},
) {
  const listed = tools.filter((tool) => tool.listed);
  return {
    ...{ id, name, ...more, status, health, reason },
    stderr: status === 'Connected' ? [] : stderr,
    tools: listed.map((tool) => ({ name: tool.name, originalName: tool.originalName })),
  };
}
