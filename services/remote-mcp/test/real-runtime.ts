import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReportedTool } from '../../contracts/bus/messages.ts';
import type { RunningService } from '../../kit/service.ts';
import { startRuntime } from '../../runtime/start.ts';
import { type Platform, untilReady } from './platform.ts';

/** A process of the platform's runtime "lonely" as it is, with a working directory of its own. */
export async function startRealRuntime(platform: Platform): Promise<RunningService> {
  const workingDir = await mkdtemp(join(tmpdir(), 'svc-replica-'));
  const running = await startRuntime(
    {
      ...{ SYSTEM_KEY: platform.runtimeKey, RUNTIME_NAME: 'lonely', BUS_SERVERS: 'inproc:', REMOTE_PORT: '0' },
      ...{ SVC_WORKING_DIR: workingDir, PATH: process.env.PATH ?? '' },
    },
    { hub: platform.hub, version: '1.2.3', log: { write: () => undefined } },
  );
  await untilReady(running);
  return {
    url: running.url,
    stop: async () => {
      await running.stop();
      await rm(workingDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** How an MCP server is started that writes down its calls in this file. */
export function ledger(file: string, tools: readonly ReportedTool[]) {
  const script = join(import.meta.dirname, '../../runtime/test/children/ledger.mjs');
  return { command: process.execPath, args: [script, file, ...tools.map(({ definition }) => definition)] };
}
