import { oneLine } from '../../services/contracts/one-line.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import type { McpServer, Tool } from '../objects/servers.ts';
import { reasonsOf, shownStatus } from './reason.ts';
import { details, facts, spare, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { ago, span } from './times-and-sizes.ts';
import { cut } from './width.ts';

const statusColours = {
  Connected: 'green',
  Disconnected: 'grey',
  Error: 'red',
  Starting: 'yellow',
  Disabled: 'grey',
} as const;
const healthWords = { green: 'healthy', yellow: 'degraded', red: 'down' } as const;

/** One MCP server in lines of "what  value". */
export function describeServer(server: McpServer, terminal: Terminal): string {
  const rows: [string, string][] = [
    ['name', server.name],
    ['id', server.id],
    ['status', paintStatus(server, terminal)],
    ['health', terminal.paint(server.health, healthWords[server.health])],
  ];
  if (server.runtimes.length > 0) rows.push(['runtime', server.runtimes.map(({ name }) => name).join(', ')]);
  if (server.launch !== null) {
    rows.push(['started as', launchLine(server.launch)]);
    if (server.launch.cwd !== null) rows.push(['folder', server.launch.cwd]);
    rows.push(['set by', server.launch.setBy]);
    if (server.launch.settings.length > 0) rows.push(['settings', settingsInWords(server.launch.settings)]);
  }
  if (server.sandboxes.length > 0) rows.push(['sandbox', server.sandboxes.join(', ')]);
  if (server.homes.length > 0) rows.push(['home', server.homes.map(homeInWords).join(', ')]);
  if (server.startTimeout !== null) rows.push(['start within', `${server.startTimeout} s`]);
  if (server.callTimeout !== null) rows.push(['answer within', `${server.callTimeout} s`]);
  rows.push(['started', ago(server.lastStartedAt)], ['restarts', String(server.restarts)]);
  if (server.reason !== null) rows.push(['reason', server.reason.message], ['repair', server.reason.repair]);
  if (server.nextRetryAt !== null) rows.push(['next try', `in ${span(Math.max(0, server.nextRetryAt - Date.now()))}`]);
  const lines = [facts(rows, terminal)];
  if (showsStderr(server)) lines.push(describeStderr(server, terminal));
  return lines.join('\n\n');
}

/** Why it is not Connected: its last output, the cause and the repair. `done` is what happened before, as in "added". */
export function describeFailure(server: McpServer, done: string, terminal: Terminal): string {
  const { name, reason } = server;
  const cause = reason === null ? 'no runtime has reported yet.' : reason.message;
  return [
    ...(showsStderr(server) ? [describeStderr(server, terminal)] : []),
    `${terminal.paint('red', 'Error:')} ${name} is ${done}, but not Connected: ${oneLine(cause)}`,
    ...(reason === null ? [] : [oneLine(reason.repair)]),
    `${name} stays ${done}, and ${keepsTrying(name)}`,
  ].join('\n');
}

/** The latest report of its runtime. */
export function describeTest({ server, tools }: ListedServer, terminal: Terminal): string {
  const { name, status, reason } = server;
  const isConnected = status === 'Connected';
  const mark = isConnected ? terminal.paint('green', '✓') : terminal.paint('red', '✗');
  const offered = `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  const facts = isConnected
    ? [healthWords[server.health], offered, `started ${ago(server.lastStartedAt)}`, `${server.restarts} restarts`].join(
        ', ',
      )
    : oneLine(reason?.message ?? 'no runtime has reported yet.');
  return [
    `${mark} ${name} is ${status}: ${facts}`,
    ...(isConnected && reason !== null ? [oneLine(reason.message)] : []),
    ...(reason === null ? [] : [oneLine(reason.repair)]),
    ...(showsStderr(server) ? [describeStderr(server, terminal)] : []),
  ].join('\n');
}

/** For an MCP server that is not Connected. */
export function keepsTrying(name: string): string {
  return `the platform keeps trying. Show it: svc server show ${name}. Change its command: svc server update ${name} -- COMMAND. Remove it: svc server remove ${name}.`;
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
    paintStatus(server, terminal),
    shownStatus(server) === 'Disabled' ? '–' : terminal.paint(server.health, healthWords[server.health]),
    String(tools),
    server.runtimes.map(({ name }) => name).join(', '),
  ]);
  const reasons = reasonsOf(listed.map(({ server }) => server));
  return [
    table(['NAME', 'STATUS', 'HEALTH', 'TOOLS', spare('RUNTIME')], rows, terminal.columns),
    ...(reasons.length === 0 ? [] : [details(reasons, terminal)]),
  ].join('\n\n');
}

function paintStatus(server: Pick<McpServer, 'status' | 'reason'>, { paint }: Terminal): string {
  const status = shownStatus(server);
  return paint(statusColours[status], status);
}

export interface ListedServer {
  readonly server: McpServer;
  /** How many of its tools are listed. */
  readonly tools: number;
}

/** The declared settings. Those that keep the MCP server from its start come first. */
function settingsInWords(settings: NonNullable<McpServer['launch']>['settings']): string {
  const missing = settings.filter(({ required, isSet }) => required && !isSet);
  const others = settings.filter((setting) => !missing.includes(setting));
  return [
    ...missing.map(({ name }) => `${name} (required, missing)`),
    ...others.map(
      ({ name, required, isSet }) => `${name} (${required ? 'required' : 'optional'}, ${isSet ? 'set' : 'not set'})`,
    ),
  ].join(', ');
}

function homeInWords(home: string): string {
  return home === 'user' ? 'that of the user who runs the runtime' : 'a folder of its own';
}

/** How it is started, without secret values. */
export function launchLine(
  launch: Pick<NonNullable<McpServer['launch']>, 'command' | 'args' | 'url' | 'env' | 'headers'>,
): string {
  if (launch.url !== null) {
    return [launch.url, ...launch.headers.map(({ name, value }) => `(header ${name}: ${value ?? secret})`)].join(' ');
  }
  const variables = launch.env.map(({ name, value }) => `${name}=${value === null ? secret : shellWord(value)}`);
  return [...variables, launch.command ?? '', ...(launch.args ?? [])].join(' ');
}

const secret = '[secret]';

/** A description may have pages. This length distinguishes one tool from another. */
const descriptionMax = 80;

/** A description on one line. */
export function brief(text: string | null): string {
  return cut((text ?? '').replace(/\s+/g, ' ').trim(), descriptionMax);
}
