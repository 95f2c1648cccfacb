import { createServer } from 'node:http';
import type { EnvRecord } from '../contracts/env/check.ts';
import { boundStrangers } from '../kit/http/connections.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import { createLog } from '../kit/log.ts';
import type { RunningService, Surroundings } from '../kit/service.ts';
import { readConfig } from './config.ts';
import { readPage } from './page.ts';
import { createFrontend } from './server.ts';

/** A page is sent in milliseconds; a slower transfer is cut off when the service stops. */
const stopDeadlineMs = 1000;

export async function startFrontend(env: EnvRecord, { log, version }: Surroundings): Promise<RunningService> {
  const { config, warnings } = readConfig(env);
  const logger = createLog({ service: 'frontend', level: config.logLevel, destination: log })('frontend');
  for (const warning of warnings) logger.warn({ warning }, 'ignored a variable');
  const server = createServer(createFrontend(await readPage(config)));
  boundStrangers(server);
  const url = await listen(server, { host: config.host, port: config.port });
  logger.info({ url, version }, 'listening');
  return {
    url,
    async stop() {
      await stopListening(server, stopDeadlineMs);
      logger.info('stopped');
    },
  };
}
