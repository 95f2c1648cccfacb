import { join } from 'node:path';
import type { startBackend } from '../../services/backend/start.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { inheritedByChildren } from '../../services/contracts/env/inherited.ts';
import { openBackendClient, operatorTokens } from '../backend-client.ts';
import type { ListenerName } from '../definition/definition.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import type { ServiceEvent } from '../lifecycle/transition.ts';
import type { PlatformLogs } from './platform-logs.ts';
import { registerIdentities } from './register-identities.ts';
import { step } from './start-failure.ts';

export interface PlatformOptions {
  readonly plan: Plan;
  readonly env: EnvRecord;
  readonly logs: PlatformLogs;
  /** Throws where a start could not be told, which then fails; never for a stop. */
  readonly onEvent: (service: ListenerName, event: ServiceEvent) => void;
  /** Ends the start; what was started by then is stopped. */
  readonly signal: AbortSignal;
}

/** The whole platform in this process. */
export interface Platform {
  stop(): Promise<void>;
}

type StartService = typeof startBackend;
type Hub = NonNullable<Parameters<StartService>[1]['hub']>;

/** Longest time that a healthy service takes until it is ready, many times over. */
const readyTimeoutMs = 30_000;

/** Starts the bus, then the backend and its identities, then what needs them, and at last the agents' address. Throws a `StartFailure`. */
export async function startPlatform({ plan, env, logs, onEvent, signal }: PlatformOptions): Promise<Platform> {
  const { addresses, definition, environment, installation, secrets, version } = plan;
  const stops: { readonly part: string; readonly stop: () => Promise<void> }[] = [];
  const stop = async () => {
    for (const { part, stop: stopPart } of stops.splice(0).reverse()) {
      // One part that cannot stop must not keep the others running.
      await stopPart().catch((error: unknown) => {
        logs.note('error', 'a part did not stop', { part, reason: String(error) });
      });
    }
  };
  // The runtime's MCP servers inherit from it; no other service reads more than its own variables.
  const variablesOf = { ...environment, runtime: { ...inheritedByChildren(env), ...environment.runtime } };
  const start = async (name: ListenerName, hub: Hub, load: () => Promise<StartService>) => {
    onEvent(name, 'start');
    const running = await step(name, 'start', async () =>
      (await load())(variablesOf[name], { hub, version, log: logs.of(name) }),
    );
    const stopService = async () => {
      await running.stop();
      onEvent(name, 'stop');
    };
    stops.push({ part: name, stop: stopService });
    const url = running.url ?? addresses.local[name];
    await step(name, 'get ready', () => waitUntilReady(url, { timeoutMs: readyTimeoutMs, signal }));
    onEvent(name, 'ready');
  };
  try {
    const hub = await step('platform', 'start the bus', () => openHub(plan, logs));
    stops.push({ part: 'bus', stop: () => hub.stop() });
    await start('backend', hub, async () => (await import('../../services/backend/start.ts')).startBackend);
    const backend = openBackendClient(
      addresses.local.backend,
      operatorTokens(installation, environment.backend.JWT_ISSUER),
    );
    await step('platform', 'register its identities', () =>
      registerIdentities({ backend, definition, secrets, signal }),
    );
    // Agents are let in last: one that waits for the address to be back must not be shown what does not run yet.
    const loading = import('../../services/remote-mcp/start.ts');
    loading.catch(() => undefined);
    const dependants = [
      start('runtime', hub, async () => (await import('../../services/runtime/start.ts')).startRuntime),
      start('frontend', hub, async () => (await import('../../services/frontend/start.ts')).startFrontend),
    ];
    // All of them, so that none is still starting when what was started is stopped.
    const failed = (await Promise.allSettled(dependants)).find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await start('remote-mcp', hub, async () => (await loading).startRemoteMcp);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openHub({ installation, definition }: Plan, logs: PlatformLogs): Promise<Hub> {
  const { startHub } = await import('../../services/kit/bus/start.ts');
  const file = definition.bus.persistentMessaging ? join(installation.dataDir, 'bus.sqlite') : null;
  return startHub({ file, log: logs.of('bus') });
}
