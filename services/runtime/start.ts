import type { EnvRecord } from '../contracts/env/check.ts';
import { createHealthServer } from '../kit/http/health.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import type { RunningService, Surroundings } from '../kit/service.ts';
import { readConfig } from './config.ts';
import { createRuntime } from './context.ts';
import { endLeftovers } from './launchers/leftovers.ts';
import { createLook } from './launchers/processes.ts';
import { serve, type Watch } from './serve.ts';

/** `/health` and `/ready` are answered in a moment. */
const webStopMs = 1000;

/** Starts a runtime: it runs at once, and is ready when the bus and the backend have admitted it, which may be later. */
export async function startRuntime(
  env: EnvRecord,
  surroundings: Surroundings,
  watch: Watch = {},
): Promise<RunningService> {
  const config = readConfig(env);
  const runtime = await createRuntime(config, surroundings);
  const logger = runtime.log('runtime');
  for (const warning of config.warnings) logger.warn({ warning }, 'ignored a variable');
  const serving = serve(runtime, watch);
  const web = createHealthServer(() => serving.missing());
  try {
    const url = config.listen === null ? null : await listen(web, config.listen);
    logger.info({ url }, 'started');
    const stop = async () => {
      await serving.stop();
      await stopListening(web, webStopMs);
      logger.info('stopped');
    };
    let stopped: Promise<void> | null = null;
    return {
      url,
      stop() {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await serving.stop();
    throw error;
  }
}

/**
 * Ends the MCP servers that a killed runtime left running, without starting another runtime; returns how many there
 * were.
 */
export function endLeftBehind(workingDir: string): Promise<number> {
  return endLeftovers(workingDir, createLook());
}
