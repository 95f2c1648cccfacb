import { join } from 'node:path';
import type { startBackend } from '../../../services/backend/start.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../../services/contracts/env/inherited.ts';
import type { ServiceName } from '../../../services/contracts/env/variables.ts';
import { readReadiness } from '../../lifecycle/readiness.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { type Part, readyAt } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { type PartRunner, type RunningPart, refuseTakenPorts } from './part-runner.ts';

type StartService = typeof startBackend;

/** All parts end together, so only calls that are almost done are worth waiting for. */
const drainMs = 3000;

const services: Readonly<Record<ServiceName, () => Promise<StartService>>> = {
  backend: async () => (await import('../../../services/backend/start.ts')).startBackend,
  runtime: async () => (await import('../../../services/runtime/start.ts')).startRuntime,
  frontend: async () => (await import('../../../services/frontend/start.ts')).startFrontend,
  'remote-mcp': async () => (await import('../../../services/remote-mcp/start.ts')).startRemoteMcp,
};

/** Runs every part in this process, on an embedded bus. MCP servers find programs and proxies through `env`. */
export async function runInside(plan: Plan, env: EnvRecord, logs: PlatformLogs): Promise<PartRunner> {
  const { startHub } = await import('../../../services/kit/bus/start.ts');
  const file = plan.definition.bus.persistentMessaging ? join(plan.installation.dataDir, 'bus.sqlite') : null;
  const hub = await startHub({ file, log: logs.of('bus') });
  return {
    async start(part): Promise<RunningPart> {
      const service = serviceOf(part);
      // Loads the last part while the others start.
      if (service !== 'backend') services['remote-mcp']().catch(() => undefined);
      const start = await services[service]();
      await refuseTakenPorts(part);
      // MCP servers inherit the environment of the runtime. Every other service reads only its own variables.
      const variables = service === 'runtime' ? { ...inheritedByChildren(env), ...part.variables } : part.variables;
      const running = await start(variables, { hub, version: plan.version, log: logs.of(part.name), drainMs });
      const ready = running.url === null ? part.ready : readyAt(running.url);
      return {
        readiness: (signal) => readReadiness(ready, signal),
        ended: new Promise(() => undefined),
        answers: async () => true,
        stop: () => running.stop(),
      };
    },
    close: () => hub.stop(),
  };
}

function serviceOf({ name, program }: Part): ServiceName {
  if (program.kind === 'foreign') throw new Error(`${name} does not run inside this process`);
  return program.service;
}
