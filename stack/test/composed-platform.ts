import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackend } from '../../services/backend/start.ts';
import type { Hub } from '../../services/kit/bus/bus.ts';
import { TestServer } from '../../services/kit/bus/nats/test/server.ts';
import { startHub } from '../../services/kit/bus/start.ts';
import type { RunningService } from '../../services/kit/service.ts';
import { startRemoteMcp } from '../../services/remote-mcp/start.ts';
import { startRuntime } from '../../services/runtime/start.ts';
import { type BackendClient, openBackendClient } from '../client/backend-client.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { readPlan } from '../engines/plan-of.ts';
import { registerIdentities } from '../engines/register-identities.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import { openPlatformLogs } from '../logs/platform-logs.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { readyAt } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { makeCertificate } from '../runtime-elsewhere/test/certificate.ts';
import { busSeedsOf, secretFilesOf } from '../secrets/secrets.ts';
import type { Topology } from '../settings/choices.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { type Installation, installationIn } from '../state/installation.ts';
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

/** Backend and remote-mcp on a NATS server. The runtimes of the tests are processes. */
export interface PlatformOnNats extends ComposedPlatform {
  readonly bus: TestServer;
  /** The certificate of a bus with TLS. */
  readonly authorityFile: string;
}

const readyTimeoutMs = 20_000;

/** All services on a hub. */
export async function composePlatform(): Promise<ComposedPlatform> {
  await using opened = new AsyncDisposableStack();
  const installation = await install(opened, 'embedded');
  const hub = opened.adopt(await startHub({ file: null }), (one) => one.stop());
  return await compose(installation, { hub, withRuntime: true, opened });
}

export async function composeOnNats({ tls = false } = {}): Promise<PlatformOnNats> {
  await using opened = new AsyncDisposableStack();
  const installation = await install(opened, 'distributed');
  const folder = join(installation.dir, '..');
  if (tls) makeCertificate(folder, 'bus', 'IP:127.0.0.1');
  const seeds = busSeedsOf(secretFilesOf(installation));
  const bus = opened.adopt(await TestServer.start(folder, { tls, seeds }), (one) => one.stop());
  const authorityFile = join(folder, 'bus.pem');
  await edit(installation, (yaml) => {
    const served = replaceScalar(yaml, ['bus', 'servers'], `[${bus.url}]`);
    return tls ? replaceScalar(served, ['bus', 'ca'], authorityFile) : served;
  });
  const platform = await compose(installation, { hub: null, withRuntime: false, opened });
  return { ...platform, bus, authorityFile };
}

/** In a folder of its own, which holds whatever else a test needs. */
async function install(opened: AsyncDisposableStack, topology: Topology): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-composed-'));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { installation } = await createInstallation({
    ...{ dir: join(folder, 'svc'), topology, ports: await freeServicePorts() },
  });
  return installationIn(installation.dir);
}

async function edit({ definitionFile }: Installation, change: (yaml: string) => string): Promise<void> {
  await writeFile(definitionFile, change(await readFile(definitionFile, 'utf8')));
}

interface Composition {
  readonly hub: Hub | null;
  readonly withRuntime: boolean;
  /** What the platform closes when it is disposed of. */
  readonly opened: AsyncDisposableStack;
}

async function compose(
  installation: Installation,
  { hub, withRuntime, opened }: Composition,
): Promise<ComposedPlatform> {
  const plan = readPlan(installation);
  const { addresses, definition, parts, version } = plan;
  const signal = new AbortController().signal;
  const logs = openPlatformLogs(installation, definition);
  opened.defer(() => logs.close());

  let running: RunningService | null = null;
  const startBackendAgain = async () => {
    running = await startBackend(firstOf('backend', parts).variables, { hub, version, log: logs.of('backend') });
  };
  const stopBackend = async () => {
    await running?.stop();
    running = null;
  };
  opened.defer(stopBackend);
  await startBackendAgain();
  const tokens = operatorTokens(installation, firstOf('backend', parts).variables.JWT_ISSUER);
  const backend = openBackendClient([addresses.local.backend], tokens);
  await registerIdentities(addresses.local.backend, plan, signal);
  const others = [['remote-mcp', startRemoteMcp] as const, ['runtime', startRuntime] as const];
  for (const [name, start] of withRuntime ? others : others.slice(0, 1)) {
    const service = await start(firstOf(name, parts).variables, { hub, version, log: logs.of(name) });
    opened.defer(() => service.stop());
    await waitUntilReady(readyAt(addresses.local[name]), { timeoutMs: readyTimeoutMs, signal });
  }
  const started = opened.move();
  return {
    plan,
    mcpUrl: `${addresses.local['remote-mcp']}/mcp`,
    backend,
    must: (query, variables = {}) => backend.query(query, variables, (data) => data),
    stopBackend,
    startBackend: startBackendAgain,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
