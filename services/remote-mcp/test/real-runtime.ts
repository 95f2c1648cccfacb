import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReportedTool } from '../../contracts/bus/messages.ts';
import type { Bus, Hub } from '../../kit/bus/bus.ts';
import type { Connection } from '../../kit/bus/inproc/connection.ts';
import type { RunningService } from '../../kit/service.ts';
import { startRuntime } from '../../runtime/start.ts';
import { type Platform, untilReady } from './platform.ts';

export interface RealRuntime extends RunningService {
  /** Ends its connection to the bus, like a kill. The process must still be stopped. */
  die(): void;
}

/** A real process of the platform's runtime "lonely", with its own working directory. */
export async function startRealRuntime(platform: Platform): Promise<RealRuntime> {
  const buses: Bus[] = [];
  const workingDir = await mkdtemp(join(tmpdir(), 'svc-replica-'));
  const running = await startRuntime(
    {
      ...{ SYSTEM_KEY: platform.runtimeKey, RUNTIME_NAME: 'lonely', BUS_SERVERS: 'inproc:', REMOTE_PORT: '0' },
      ...{ SVC_WORKING_DIR: workingDir, PATH: process.env.PATH ?? '' },
    },
    { hub: watched(platform.hub, buses), version: '1.2.3', log: { write: () => undefined } },
  );
  await untilReady(running);
  return {
    url: running.url,
    die: () => {
      for (const bus of buses) (bus as Connection).end('closed');
    },
    stop: async () => {
      await running.stop();
      await rm(workingDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The real bus, which records the connections to it. */
function watched(hub: Hub, buses: Bus[]): Hub {
  return {
    connect: async (...who) => {
      const bus = await hub.connect(...who);
      buses.push(bus);
      return bus;
    },
    stop: () => hub.stop(),
  };
}

/** The launch of an MCP server that records its calls in this file. */
export function ledger(file: string, tools: readonly ReportedTool[]) {
  const script = join(import.meta.dirname, '../../runtime/test/children/ledger.mjs');
  return { command: process.execPath, args: [script, file, ...tools.map(({ definition }) => definition)] };
}
