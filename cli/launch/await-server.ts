import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../services/contracts/errors.ts';
import { AlreadyReported } from '../command.ts';
import type { Tenancy } from '../objects/platform.ts';
import { fetchServer, fetchTools, type McpServer, type Tool } from '../objects/servers.ts';
import { describeFailure, describeTools, keepsTrying } from '../output/server.ts';
import type { Terminal } from '../output/terminal.ts';
import { span } from '../output/times-and-sizes.ts';
import { oneLine } from '../output/width.ts';

const pollMs = 200;
/** The first start with npx on a slow connection takes more than a minute. */
const waitMinMs = 90_000;
/** A start begins a little after the command. */
const afterStartMs = 30_000;
/** A person who waits wants to see that the command still works. */
const tellMs = 5000;

export interface Awaited {
  readonly id: string;
  readonly name: string;
  /** What happened before the wait, such as "added". */
  readonly done: string;
  /** The time of the earlier start, for a restart; otherwise absent. */
  readonly startedBefore?: number | null;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/** Waits until the MCP server is Connected or its runtime reports an error. Disconnected is no outcome. */
export async function awaitServer(tenancy: Tenancy, awaited: Awaited): Promise<McpServer> {
  const { id, name, done, startedBefore, signal, terminal } = awaited;
  const start = Date.now();
  let toldMs = 0;
  for (;;) {
    const server = await getPresent(tenancy, id);
    const isNewStart = startedBefore === undefined || server.lastStartedAt !== startedBefore;
    const isSettled = isNewStart && (server.status === 'Connected' || server.status === 'Error');
    const passedMs = Date.now() - start;
    const waitMs = Math.max(waitMinMs, (server.startTimeout ?? 0) * 1000 + afterStartMs);
    if (isSettled || !server.enabled || passedMs > waitMs) return server;
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

/** Waits until no process runs it. False if one still does after that time, or after an interruption. */
export async function awaitStop(
  tenancy: Tenancy,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const end = Date.now() + stopMs;
  for (;;) {
    if ((await getPresent(tenancy, id)).sandboxes.length === 0) return true;
    if (signal.aborted || Date.now() > end) return false;
    await pause(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The MCP server as it is now. Throws if somebody removed it. */
export async function getPresent({ backend, workspace }: Tenancy, id: string): Promise<McpServer> {
  const server = await fetchServer(backend, workspace.id, id);
  if (server !== null) return server;
  throw new SvcError('not_found', 'The MCP server was removed meanwhile.');
}

export interface Outcome {
  readonly server: McpServer;
  /** What happened before the wait, such as "added". */
  readonly done: string;
  readonly terminal: Terminal;
}

/** Prints the tools, or why it is not Connected. `more` are further fields of the JSON document. */
export async function tellOutcome(
  { backend, workspace }: Tenancy,
  { server, done, terminal }: Outcome,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const isConnected = server.status === 'Connected';
  const tools = isConnected ? await fetchTools(backend, workspace.id, server.id) : [];
  terminal.json(serverDocument(server, tools, more));
  if (isConnected) {
    terminal.result(`${terminal.paint('green', 'Connected')}\n\n${describeTools(tools, terminal)}`);
    return;
  }
  terminal.complain(describeFailure(server, done, terminal));
  throw new AlreadyReported(1);
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
