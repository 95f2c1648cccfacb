import { status } from '../status.ts';
import { type Found, failed, ok, type Planned, warning } from './finding.ts';

const shownMax = 10;

/** The running platform's own word about its parts, MCP servers and runtimes. */
export async function checkPlatform({ installation, signal }: Planned): Promise<readonly Found[]> {
  const { state, services, mcpServers, runtimes, fullDisk } = await status({ installation, signal });
  if (state === 'stopped') return [warning('The platform is not running.', 'Start it: svc up')];
  const parts = services.flatMap(({ name, state, reason }) =>
    state === 'healthy'
      ? []
      : [failed(`${name} is ${state}. ${reason ?? ''}`.trim(), `Read its log: svc logs ${name}`)],
  );
  const unwell = mcpServers.filter(({ status }) => status === 'Error').slice(0, shownMax);
  const away = runtimes.filter(({ available }) => !available).slice(0, shownMax);
  const found = [
    ...parts,
    ...(fullDisk === null ? [] : [failed(fullDisk, 'Free some space on that disk.')]),
    ...unwell.map(({ name, reason }) =>
      warning(
        `The MCP server "${name}" is in Error. ${reason?.message.split('\n', 1)[0] ?? ''}`.trim(),
        reason?.repair ?? `Show the reason: svc server show ${name}`,
      ),
    ),
    ...away.map(({ name }) =>
      warning(`The runtime "${name}" is not available.`, 'List the runtimes: svc runtime list'),
    ),
  ];
  if (found.length > 0) return found;
  return [ok(`All ${services.length} services are healthy, and ${mcpServers.length} MCP servers have no error.`)];
}
