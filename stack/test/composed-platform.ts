import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackend } from '../../services/backend/start.ts';
import { startHub } from '../../services/kit/bus/start.ts';
import type { RunningService } from '../../services/kit/service.ts';
import { startRemoteMcp } from '../../services/remote-mcp/start.ts';
import { startRuntime } from '../../services/runtime/start.ts';
import { type BackendClient, openBackendClient, operatorTokens } from '../client/backend-client.ts';
import { readPlan } from '../engines/plan-of.ts';
import { registerIdentities } from '../engines/register-identities.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import { openPlatformLogs } from '../logs/platform-logs.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { readyAt } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { freeServicePorts } from './free-ports.ts';

/** The parts of an installation, started in this process one by one, as its plan says: so that the backend alone can be stopped. */
export interface ComposedPlatform extends AsyncDisposable {
  readonly plan: Plan;
  readonly mcpUrl: string;
  /** As an operator. */
  readonly backend: BackendClient;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  must(query: string, variables?: Readonly<Record<string, unknown>>): Promise<any>;
  stopBackend(): Promise<void>;
  startBackend(): Promise<void>;
}

const readyTimeoutMs = 20_000;

export async function composePlatform(settings: (yaml: string) => string = (yaml) => yaml): Promise<ComposedPlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-composed-'));
  const started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { installation } = await createInstallation({ dir: join(folder, 'svc'), ports: await freeServicePorts() });
  await writeFile(installation.definitionFile, settings(await readFile(installation.definitionFile, 'utf8')));
  const plan = readPlan(installation);
  const { addresses, definition, parts, secrets, version } = plan;
  const signal = new AbortController().signal;
  const logs = openPlatformLogs(installation, definition);
  started.defer(() => logs.close());
  const hub = started.adopt(await startHub({ file: null, log: logs.of('bus') }), (one) => one.stop());

  let running: RunningService | null = null;
  const boot = async () => {
    running = await startBackend(firstOf('backend', parts).variables, { hub, version, log: logs.of('backend') });
  };
  const stopBackend = async () => {
    await running?.stop();
    running = null;
  };
  started.defer(stopBackend);
  await boot();
  const tokens = operatorTokens(installation, firstOf('backend', parts).variables.JWT_ISSUER);
  const backend = openBackendClient([addresses.local.backend], tokens);
  await registerIdentities({ backend, definition, secrets, signal });
  for (const [name, start] of [['remote-mcp', startRemoteMcp] as const, ['runtime', startRuntime] as const]) {
    const service = await start(firstOf(name, parts).variables, { hub, version, log: logs.of(name) });
    started.defer(() => service.stop());
    await waitUntilReady(readyAt(addresses.local[name]), { timeoutMs: readyTimeoutMs, signal });
  }
  return {
    plan,
    mcpUrl: `${addresses.local['remote-mcp']}/mcp`,
    backend,
    must: (query, variables = {}) => backend.query(query, variables, (data) => data),
    stopBackend,
    startBackend: boot,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
