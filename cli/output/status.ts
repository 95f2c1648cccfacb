import type { ServiceStatus, Status } from '../../stack/lifecycle/platform-status.ts';
import { describeEnd } from '../../stack/lifecycle/unwanted-end.ts';
import { describeMail } from './mail.ts';
import { reasonsOf, shownStatus } from './reason.ts';
import { details, spare, table } from './table.ts';
import type { Colour, Terminal } from './terminal.ts';
import { ago, megabytes, span } from './times-and-sizes.ts';
import { wrapped } from './width.ts';

const colours: Readonly<Record<string, Colour>> = {
  green: 'green',
  yellow: 'yellow',
  red: 'red',
  healthy: 'green',
  running: 'green',
  Connected: 'green',
  Error: 'red',
  unhealthy: 'red',
  restarting: 'yellow',
  failed: 'red',
  lost: 'red',
  degraded: 'yellow',
  stopped: 'grey',
  Disconnected: 'grey',
  Starting: 'yellow',
};

const healthWords: Readonly<Record<string, string>> = { green: 'healthy', yellow: 'degraded', red: 'down' };

/** All services, then MCP servers and runtimes if there are any. */
export function describeStatus(status: Status, terminal: Terminal): string {
  const state = (word: string, by: string = word) => terminal.paint(colours[by] ?? 'grey', word);
  const health = (word: string) => state(healthWords[word] ?? word, word);
  const shared = sharedProcess(status);
  const restarted = status.services.some(({ restarts }) => restarts > 0);
  const { columns } = terminal;
  const isStopped = status.state === 'stopped';
  const start = isStopped && status.ended === null && status.copyOf === null ? ' Start it: svc up' : '';
  const what = `The platform is ${state(status.state)} (${status.topology}, ${status.engine})${shared}.${start}`;
  const parts = [wrapped(what, terminal)];
  if (status.ended !== null) {
    const next = isStopped
      ? 'svc up starts it again.'
      : 'Its services still run, but nothing restarts them. svc up takes them over.';
    parts.push(wrapped(`${describeEnd(status.ended)} ${next}`, terminal));
  }
  if (status.copyOf !== null) {
    const copy = `This folder is a copy of ${status.copyOf}. Its status is not shown here. To give the copy an id, keys and ports of its own: svc up --as-copy`;
    parts.push(wrapped(copy, terminal));
  }
  if (status.fullDisk !== null) {
    parts.push(wrapped(`${status.fullDisk} Data there cannot change until the disk has free space.`, terminal));
  }
  if (status.supervisor?.state === 'silent') {
    const silent = `Its supervisor (pid ${status.supervisor.pid}) does not answer, so nothing restarts a part that ends. Replace it: svc up`;
    parts.push(wrapped(silent, terminal));
  }
  if (!isStopped) parts.push(describeAddresses(status));
  const services = status.services.map((service) => [
    service.name,
    state(service.state),
    health(service.health),
    service.url ?? '–',
    service.since === null ? '–' : span(Math.max(0, Date.now() - Date.parse(service.since))),
    ...(shared === '' ? [runsAs(service), megabytes(service.memoryBytes)] : []),
    ...(restarted ? [service.restarts === 0 ? '–' : String(service.restarts)] : []),
  ]);
  const isContained = status.services.some(({ container }) => container !== undefined);
  const own = shared === '' ? [spare(isContained ? 'CONTAINER' : 'PID'), spare('MEMORY')] : [];
  const restarts = restarted ? [spare('RESTARTS')] : [];
  parts.push(table(['SERVICE', 'STATE', 'HEALTH', 'ADDRESS', spare('SINCE'), ...own, ...restarts], services, columns));
  const unread = status.contentProblem === null ? [] : [{ name: 'backend', text: status.contentProblem }];
  const unwell = [...status.services.flatMap(tellingOf), ...unread, ...describeMail(status.mail)];
  if (unwell.length > 0) parts.push(details(unwell, terminal));
  if (status.mcpServers.length > 0) {
    const rows = status.mcpServers.map((server) => [
      server.name,
      server.workspace,
      state(shownStatus(server)),
      shownStatus(server) === 'Disabled' ? '–' : health(server.health),
      server.sandboxes.join(', ') || '–',
    ]);
    parts.push(table(['MCP SERVER', 'WORKSPACE', 'STATUS', 'HEALTH', spare('SANDBOX')], rows, columns));
    const reasons = reasonsOf(status.mcpServers);
    if (reasons.length > 0) parts.push(details(reasons, terminal));
  }
  if (status.runtimes.length > 0) {
    const rows = status.runtimes.map((runtime) => [
      runtime.name,
      runtime.available ? state('available', 'green') : state('unavailable', 'red'),
    ]);
    parts.push(table(['RUNTIME', 'STATE'], rows, columns));
  }
  return parts.join('\n\n');
}

function runsAs(service: ServiceStatus): string {
  return String(service.container ?? service.pid ?? '–');
}

/** Why a service is not healthy, and its last unexpected end, even if it is healthy again. */
export function tellingOf({ name, state, reason, restarts, ends }: ServiceStatus): { name: string; text: string }[] {
  const last = ends.at(-1);
  const told = reason === null ? [] : [{ name, text: reason }];
  if (last === undefined) return told;
  const times = restarts === 1 ? 'once' : `${restarts} times`;
  // The reason of these states already includes it.
  const how = state === 'restarting' || state === 'failed' ? '' : `: it ${last.reason}`;
  return [
    ...told,
    { name, text: `ended ${times} without being asked, the last time ${ago(Date.parse(last.at))}${how}.` },
  ];
}

/** The process that all services share. Its memory beside each service would look like a sum. */
function sharedProcess({ services: [first, ...others] }: Status): string {
  if (first?.pid == null || others.some(({ pid }) => pid !== first.pid)) return '';
  return `, in one process: pid ${first.pid}, ${megabytes(first.memoryBytes)}`;
}

/** The message for a platform of another version than this command; null for the same version. */
export function otherVersion({ version }: Status, own: string): string | null {
  if (version === null || version === own) return null;
  return `The platform runs version ${version}, and this command is version ${own}. Restart the platform with this version: svc up`;
}

/** The addresses to open after `svc up`. */
export function describeAddresses(status: Status): string {
  const { app, api, mcp, keys } = status.urls;
  const agents =
    keys === mcp
      ? [`  mcp   ${mcp}      agents connect here`]
      : [`  mcp   ${mcp}      agents connect here`, `  keys  ${keys}      agents with an API key connect here`];
  return [`  app   ${app}`, `  api   ${api}`, ...agents].join('\n');
}
