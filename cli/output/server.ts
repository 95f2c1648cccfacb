import type { McpServer, Tool } from '../servers.ts';
import { reasonsOf } from './reason.ts';
import { details, facts, spare, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { ago, span } from './times-and-sizes.ts';
import { cut, oneLine } from './width.ts';

const statusColours = { Connected: 'green', Disconnected: 'grey', Error: 'red' } as const;
const healthWords = { green: 'healthy', yellow: 'degraded', red: 'down' } as const;

/** One MCP server in lines of "what  value". */
export function describeServer(server: McpServer, terminal: Terminal): string {
  const rows: [string, string][] = [
    ['name', server.name],
    ['id', server.id],
    ['status', terminal.paint(statusColours[server.status], server.status)],
    ['health', terminal.paint(server.health, healthWords[server.health])],
  ];
  if (server.runtimes.length > 0) rows.push(['runtime', server.runtimes.map(({ name }) => name).join(', ')]);
  if (server.launch !== null) rows.push(['started as', launchLine(server.launch)], ['set by', server.launch.setBy]);
  rows.push(['started', ago(server.lastStartedAt)], ['restarts', String(server.restarts)]);
  if (server.reason !== null) rows.push(['reason', server.reason.message], ['repair', server.reason.repair]);
  if (server.nextRetryAt !== null) rows.push(['next try', `in ${span(Math.max(0, server.nextRetryAt - Date.now()))}`]);
  const lines = [facts(rows, terminal)];
  if (showsStderr(server)) lines.push(describeStderr(server, terminal));
  return lines.join('\n\n');
}

/** Why it is not Connected: its last output, the cause and the repair. */
export function describeFailure(server: McpServer, terminal: Terminal): string {
  const { name, reason } = server;
  const cause = reason === null ? 'no runtime has reported yet.' : reason.message;
  return [
    ...(showsStderr(server) ? [describeStderr(server, terminal)] : []),
    `${terminal.paint('red', 'Error:')} ${name} is added, but not Connected: ${oneLine(cause)}`,
    ...(reason === null ? [] : [oneLine(reason.repair)]),
    `${staysAdded(name)} To change its command, use svc apply, or remove it and add it again.`,
  ].join('\n');
}

/** The message for an MCP server that is added but not Connected. */
export function staysAdded(name: string): string {
  return `${name} stays added, and the platform keeps trying. Show it: svc server show ${name}. Remove it: svc server remove ${name}.`;
}

function showsStderr({ stderr, status }: McpServer): boolean {
  return stderr.length > 0 && status !== 'Connected';
}

function describeStderr(server: McpServer, terminal: Terminal): string {
  return ['Its last words:', ...server.stderr.map((line) => terminal.paint('grey', `  ${oneLine(line)}`))].join('\n');
}

export function describeTools(tools: readonly Tool[], terminal: Terminal): string {
  const listed = tools.filter((tool) => tool.listed);
  if (listed.length === 0) return 'It offers no tools.';
  return table(
    [`TOOLS (${listed.length})`, ''],
    listed.map((tool) => [tool.originalName, terminal.paint('grey', brief(tool.description))]),
    terminal.columns,
  );
}

/** One row for each MCP server, and below them the reasons of those that are not Connected. */
export function describeServers(listed: readonly ListedServer[], terminal: Terminal): string {
  const rows = listed.map(({ server, tools }) => [
    server.name,
    terminal.paint(statusColours[server.status], server.status),
    terminal.paint(server.health, healthWords[server.health]),
    String(tools),
    server.runtimes.map(({ name }) => name).join(', '),
  ]);
  const reasons = reasonsOf(listed.map(({ server }) => server));
  return [
    table(['NAME', 'STATUS', 'HEALTH', 'TOOLS', spare('RUNTIME')], rows, terminal.columns),
    ...(reasons.length === 0 ? [] : [details(reasons, terminal)]),
  ].join('\n\n');
}

export interface ListedServer {
  readonly server: McpServer;
  /** How many of its tools are listed. */
  readonly tools: number;
}

/** A launch on one line, without the values of its settings. */
export function launchLine(
  launch: Pick<NonNullable<McpServer['launch']>, 'command' | 'args' | 'url' | 'envNames' | 'headerNames'>,
): string {
  if (launch.url !== null) return [launch.url, ...launch.headerNames.map((name) => `(header ${name})`)].join(' ');
  const variables = launch.envNames.map((name) => `${name}=…`);
  return [...variables, launch.command ?? '', ...(launch.args ?? [])].join(' ');
}

/** A description may have pages. This length distinguishes one tool from another. */
const descriptionMax = 80;

/** A description on one line. */
export function brief(text: string | null): string {
  return cut((text ?? '').replace(/\s+/g, ' ').trim(), descriptionMax);
}
