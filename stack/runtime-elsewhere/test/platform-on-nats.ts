import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackend } from '../../../services/backend/start.ts';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import type { RunningService } from '../../../services/kit/service.ts';
import { startRemoteMcp } from '../../../services/remote-mcp/start.ts';
import { type BackendClient, openBackendClient } from '../../client/backend-client.ts';
import { operatorTokens } from '../../client/operator-token.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { registerIdentities } from '../../engines/register-identities.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { createInstallation } from '../../operations/create-installation.ts';
import { readyAt } from '../../parts/part.ts';
import { firstOf } from '../../parts/parts.ts';
import type { Plan } from '../../plan/plan.ts';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import { freeServicePorts } from '../../test/free-ports.ts';
import { makeCertificate } from './certificate.ts';

/**
 * Backend and remote-mcp of an installation on a NATS server, started in this process, so that the backend alone can be
 * stopped. The runtimes of the tests are processes.
 */
export interface PlatformOnNats extends AsyncDisposable {
  readonly plan: Plan;
  readonly mcpUrl: string;
  readonly bus: TestServer;
  /** The certificate of a bus with TLS. */
  readonly authorityFile: string;
  /** GraphQL as an operator. */
  readonly backend: BackendClient;
  stopBackend(): Promise<void>;
  startBackend(): Promise<void>;
}

const readyTimeoutMs = 20_000;

export async function startOnNats({ tls = false } = {}): Promise<PlatformOnNats> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-on-nats-'));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { installation } = await createInstallation({
    ...{ dir: join(folder, 'svc'), topology: 'distributed', ports: await freeServicePorts() },
  });
  if (tls) makeCertificate(folder, 'bus', 'IP:127.0.0.1');
  const authorityFile = join(folder, 'bus.pem');
  const seeds = busSeedsOf(secretFilesOf(installation));
  const bus = opened.adopt(await TestServer.start(folder, { tls, seeds }), (one) => one.stop());
  const yaml = await readFile(installation.definitionFile, 'utf8');
  const served = replaceScalar(yaml, ['bus', 'servers'], `[${bus.url}]`);
  await writeFile(installation.definitionFile, tls ? replaceScalar(served, ['bus', 'ca'], authorityFile) : served);

  const plan = readPlan(installation);
  const { addresses, definition, parts, version } = plan;
  const logs = openPlatformLogs(installation, definition);
  opened.defer(() => logs.close());
  const surroundings = (name: 'backend' | 'remote-mcp') => ({ hub: null, version, log: logs.of(name) });
  const variablesOf = (name: 'backend' | 'remote-mcp') => firstOf(name, parts).variables;
  let running: RunningService | null = null;
  const start = async () => {
    running = await startBackend(variablesOf('backend'), surroundings('backend'));
  };
  const stopBackend = async () => {
    await running?.stop();
    running = null;
  };
  opened.defer(stopBackend);
  await start();
  const { signal } = new AbortController();
  await registerIdentities(addresses.local.backend, plan, signal);
  opened.adopt(await startRemoteMcp(variablesOf('remote-mcp'), surroundings('remote-mcp')), (one) => one.stop());
  await waitUntilReady(readyAt(addresses.local['remote-mcp']), { timeoutMs: readyTimeoutMs, signal });
  const tokens = operatorTokens(installation, variablesOf('backend').JWT_ISSUER);
  const backend = openBackendClient([addresses.local.backend], tokens);
  const started = opened.move();
  return {
    plan,
    mcpUrl: `${addresses.local['remote-mcp']}/mcp`,
    bus,
    authorityFile,
    backend,
    stopBackend,
    startBackend: start,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
