import type { EnvRecord } from '../contracts/env/check.ts';
import type { Subscription } from '../kit/bus/bus.ts';
import { readEnv } from '../kit/env.ts';
import type { RunningService, Surroundings } from '../kit/service.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { Backend } from './context.ts';
import { TokenRefresher } from './integrations/refresh-tokens.ts';
import { answerKeyChecks } from './keys/check-key.ts';
import { openLastUsed } from './keys/last-used.ts';
import { openBackend } from './open-backend.ts';
import { startRuntimes } from './runtimes/start-runtimes.ts';
import { startServer } from './server.ts';
import { consumeUsage } from './usage/consume-usage.ts';

export async function startBackend(env: EnvRecord, surroundings: Surroundings): Promise<RunningService> {
  const { env: config, warnings } = readEnv('backend', env);
  await using starting = new AsyncDisposableStack();
  const backend = await openBackend(config, surroundings, starting);
  const logger = backend.log('backend');
  for (const warning of warnings) logger.warn({ warning }, 'ignored a variable');
  const server = await startParts(backend, starting);
  logger.info({ url: server.url }, 'listening');
  // All parts run, so only a stop ends them, not the end of this function.
  const running = starting.move();
  return {
    url: server.url,
    async stop() {
      await backend.bus.beginClose();
      await running.disposeAsync();
      logger.info('stopped');
    },
  };
}

/** The part that started last stops first, so that no half-started backend answers. */
async function startParts(backend: Backend, started: AsyncDisposableStack): Promise<RunningService> {
  const stopping = (part: Subscription) => part.stop();
  const lastUsed = openLastUsed(backend, backend.config.IDENTITY_KEY_USAGE_THROTTLE_SECONDS * 1000);
  started.adopt(lastUsed, (part) => part.stop());
  started.adopt(answerKeyChecks(backend, lastUsed), stopping);
  started.adopt(consumeUsage(backend, lastUsed), stopping);
  started.adopt(collectGarbage(backend), stopping);
  started.adopt(backend.mailSender.start(), stopping);
  started.adopt(new TokenRefresher(backend).start(), stopping);
  started.adopt(await startRuntimes(backend), stopping);
  return started.adopt(await startServer(backend), (server) => server.stop());
}
