import { newProcessId } from '../contracts/ids.ts';
import { readEnv } from '../kit/env.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import { createLog } from '../kit/log.ts';
import type { StartService } from '../kit/service.ts';
import { Listeners } from './bus/listeners.ts';
import { buildRemoteMcp, type RemoteMcp } from './context.ts';
import { RemoteMcpServer } from './server.ts';

/** Calls under way when the service stops get this long to end. */
const drainMs = 10_000;

/** Serves /mcp, /health and /ready at once; the bus and the backend may come later. */
export const startRemoteMcp: StartService = async (env, { hub, version, log: destination }) => {
  const { env: config, warnings } = readEnv('remote-mcp', env);
  const log = createLog({ service: 'remote-mcp', level: config.LOG_LEVEL, levels: config.LOG_LEVELS, destination });
  for (const warning of warnings) log('config').warn({ warning }, 'found a variable without effect');
  const platform = buildRemoteMcp({ config, hub, version, log, process: newProcessId() });
  const http = new RemoteMcpServer(platform);
  const url = await listen(http.server, { host: config.BIND_HOST, port: config.REMOTE_PORT });
  const listeners = new Listeners(platform);
  startParts(platform, listeners);
  log('http').info({ url }, 'started');
  return {
    url,
    stop: async () => {
      http.beginStopping();
      platform.streams.stop();
      platform.waits.stop();
      await stopListening(http.server, drainMs);
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

/** In the order in which they still need each other; the bus is last. */
async function stopParts(platform: RemoteMcp): Promise<void> {
  platform.processes.stop();
  await platform.catalogues.stop();
  await platform.sessions.stop();
  await platform.usage.stop();
  await platform.link.stop();
}
