import { drainMs as drainMsOfServices } from '../contracts/drain.ts';
import { SvcError } from '../contracts/errors.ts';
import { readEnv } from '../kit/env.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import { createLog } from '../kit/log.ts';
import type { StartService } from '../kit/service.ts';
import { buildRemoteMcp, type RemoteMcp } from './context.ts';
import { Listeners } from './listeners.ts';
import { RemoteMcpServer } from './server.ts';

/** Time to write the answers of ended calls. */
const lastWordsMs = 1000;

/** Serves /mcp, /health and /ready at once, even before the bus and the backend are available. */
export const startRemoteMcp: StartService = async (
  env,
  { hub, version, log: destination, drainMs = drainMsOfServices },
) => {
  const { env: config, warnings } = readEnv('remote-mcp', env);
  const log = createLog({ service: 'remote-mcp', level: config.LOG_LEVEL, levels: config.LOG_LEVELS, destination });
  for (const warning of warnings) log('config').warn({ warning }, 'found a variable without effect');
  const platform = buildRemoteMcp({ config, hub, version, log });
  const http = new RemoteMcpServer(platform);
  const url = await listen(http.server, { host: config.BIND_HOST, port: config.REMOTE_PORT });
  const listeners = new Listeners(platform);
  startParts(platform, listeners);
  log('http').info({ url }, 'started');
  return {
    url,
    stop: async () => {
      http.leaving.begin();
      platform.streams.stop();
      platform.waits.stop();
      await Promise.all([platform.link.beginStop(), http.leaving.quiet()]);
      const late = setTimeout(() => endCalls(platform, drainMs), drainMs);
      await stopListening(http.server, drainMs + lastWordsMs);
      clearTimeout(late);
      listeners.stop();
      await stopParts(platform);
      log('http').info('stopped');
    },
  };
};

function startParts(platform: RemoteMcp, listeners: Listeners): void {
  platform.sessions.start();
  platform.streams.start();
  platform.catalogues.start();
  platform.processes.start();
  platform.usage.start();
  platform.link.listen(listeners);
  platform.link.start();
}

/** Ends calls here and at their MCP servers. */
function endCalls({ sessions }: RemoteMcp, drainMs: number): void {
  const message = `This remote-mcp is being stopped, and the call was not answered within ${drainMs / 1000} s: it may have been carried out or not.`;
  const why = new SvcError('timeout', message, { hint: 'Send it again only if doing it twice does no harm.' });
  for (const { calls } of sessions.busy()) for (const call of calls ?? []) call.end(why);
}

/** Each part stops before the parts that it needs; the bus is last. */
async function stopParts(platform: RemoteMcp): Promise<void> {
  platform.processes.stop();
  await platform.catalogues.stop();
  await platform.sessions.stop();
  await platform.usage.stop();
  await platform.link.stop();
}
