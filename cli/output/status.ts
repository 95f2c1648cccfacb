import type { Status } from '../../stack/lifecycle/status.ts';
import { describeEnd } from '../../stack/lifecycle/unwanted-end.ts';
import { table } from './table.ts';
import type { Colour, Terminal } from './terminal.ts';
import { megabytes, span } from './words.ts';

const colours: Readonly<Record<string, Colour>> = {
  green: 'green',
  yellow: 'yellow',
  red: 'red',
  healthy: 'green',
  running: 'green',
  Connected: 'green',
  Error: 'red',
  unhealthy: 'red',
  degraded: 'yellow',
  stopped: 'grey',
  Disconnected: 'grey',
};

const healthWords: Readonly<Record<string, string>> = { green: 'healthy', yellow: 'degraded', red: 'down' };

/** What runs where: services, then MCP servers and runtimes where there are any. */
export function describeStatus(status: Status, terminal: Terminal): string {
  const state = (word: string, by: string = word) => terminal.paint(colours[by] ?? 'grey', word);
  const health = (word: string) => state(healthWords[word] ?? word, word);
  const shared = sharedProcess(status);
  const parts = [`The platform is ${state(status.state)} (${status.topology}, ${status.engine})${shared}.`];
  if (status.ended !== null) parts.push(`${describeEnd(status.ended)} svc up starts it again.`);
  const services = status.services.map((service) => [
    service.name,
    state(service.state),
    health(service.health),
    service.url ?? '–',
    service.since === null ? '–' : span(Date.now() - Date.parse(service.since)),
    shared === '' ? megabytes(service.memoryBytes) : '',
    service.reason ?? '',
  ]);
  parts.push(table(['SERVICE', 'STATE', 'HEALTH', 'ADDRESS', 'SINCE', shared === '' ? 'MEMORY' : '', ''], services));
  if (status.mcpServers.length > 0) {
    const rows = status.mcpServers.map((server) => [
      server.name,
      server.workspace,
      state(server.status),
      health(server.health),
      server.reason === null ? '' : `${server.reason.message} ${server.reason.repair}`,
    ]);
    parts.push(table(['MCP SERVER', 'WORKSPACE', 'STATUS', 'HEALTH', 'REASON'], rows));
  }
  if (status.runtimes.length > 0) {
    const rows = status.runtimes.map((runtime) => [
      runtime.name,
      runtime.available ? state('available', 'green') : state('unavailable', 'red'),
    ]);
    parts.push(table(['RUNTIME', 'STATE'], rows));
  }
  return parts.join('\n\n');
}

/** Told once where all services live in one process: beside each of them its memory would read like a sum. */
function sharedProcess({ services: [first, ...others] }: Status): string {
  if (first?.pid == null || others.some(({ pid }) => pid !== first.pid)) return '';
  return `, in one process: pid ${first.pid}, ${megabytes(first.memoryBytes)}`;
}

/** What to say where the command and what runs are of different versions; null where they are of one. */
export function otherVersion({ version }: Status, own: string): string | null {
  if (version === null || version === own) return null;
  return `The platform that runs is of version ${version}, this command of ${own}: svc up brings them together.`;
}

/** Where to go, after `svc up`. */
export function describeAddresses(status: Status): string {
  return [
    `  app   ${status.urls.app}`,
    `  api   ${status.urls.api}`,
    `  mcp   ${status.urls.mcp}      agents connect here`,
  ].join('\n');
}
