import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JWTPayload, SignJWT } from 'jose';
import { startBackend } from '../../backend/start.ts';
import { newKey } from '../../contracts/keys.ts';
import { graphqlPath, tokenAudience, tokenKindClaim } from '../../contracts/token.ts';
import type { Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import type { RunningService } from '../../kit/service.ts';
import { startRemoteMcp } from '../start.ts';
import { connectRuntime, type TestRuntime } from './runtime.ts';

type Environment = Readonly<Record<string, string>>;
type Variables = Readonly<Record<string, unknown>>;

/**
 * The platform around remote-mcp: real bus, real backend, and in place of the runtime a connection that answers calls
 * as each test needs.
 */
export interface Platform {
  readonly hub: Hub;
  readonly remoteMcp: RunningService;
  readonly url: string;
  readonly mcpUrl: string;
  readonly backendUrl: string;
  readonly runtime: TestRuntime;
  readonly logged: readonly string[];
  /** The key of the runtimes "cloud" and "lonely". */
  readonly runtimeKey: string;
  /** Variables for further processes of the services, besides BUS_SERVERS. */
  readonly variables: { readonly backend: Environment; readonly remoteMcp: Environment };
  /** A GraphQL operation by an operator. */
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape themselves
  must(query: string, variables?: Variables): Promise<any>;
  /** Another remote-mcp on the same bus. */
  startAnother(env?: Readonly<Record<string, string>>, through?: Hub, drainMs?: number): Promise<RunningService>;
  connectRuntime(name?: 'cloud' | 'lonely'): Promise<TestRuntime>;
  /** Signs claims with the key of the platform. */
  sign(claims: JWTPayload, type: string): Promise<string>;
  stopBackend(): Promise<void>;
  startBackend(): Promise<void>;
  restartRemoteMcp(): Promise<Platform>;
  stop(): Promise<void>;
}

export interface PlatformOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly backendEnv?: Readonly<Record<string, string>>;
  /** Default: a bus inside this process. */
  readonly hub?: Hub;
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-remote-mcp-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(join(folder, 'private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  const logged: string[] = [];
  const surroundings = (hub: Hub) => ({
    hub,
    version: '1.2.3',
    log: { write: (line: string) => void logged.push(line) },
  });
  const hub = options.hub ?? (await startHub({ file: null }));
  const systemKeys = { remoteMcp: newKey('system'), runtime: newKey('system') };

  let port = '0';
  const backendUrl = () => `http://127.0.0.1:${port}`;
  const ofBackend: Environment = {
    PRIVATE_GRAPHDB_URL: `file:${join(folder, 'graph.sqlite')}`,
    FILES_DIR: join(folder, 'blobs'),
    ENCRYPTION_KEY: '5e'.repeat(32),
    JWT_PRIVATE_KEY_PATH: join(folder, 'private.pem'),
    JWT_PUBLIC_KEY_PATH: join(folder, 'public.pem'),
    ...options.backendEnv,
  };
  const ofRemoteMcp = (): Environment => ({
    SYSTEM_KEY: systemKeys.remoteMcp.reveal(),
    REMOTE_PORT: '0',
    PRIVATE_BACKEND_URL: backendUrl(),
    ...options.env,
  });
  const bootBackend = async () => {
    const service = await startBackend({ PORT: port, BUS_SERVERS: 'inproc:', ...ofBackend }, surroundings(hub));
    port = new URL(service.url ?? '').port;
    return service;
  };
  const bootRemoteMcp = (env: Readonly<Record<string, string>> = {}, through = hub, drainMs = 10_000) =>
    startRemoteMcp({ BUS_SERVERS: 'inproc:', ...ofRemoteMcp(), ...env }, { ...surroundings(through), drainMs });

  const must: Platform['must'] = async (query, variables) => {
    const claims: JWTPayload = {
      iss: 'service-platform',
      aud: tokenAudience,
      sub: 'root',
      [tokenKindClaim]: 'operator',
    };
    const token = await new SignJWT({ ...claims, exp: Math.floor(Date.now() / 1000) + 300 })
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
    const response = await fetch(backendUrl() + graphqlPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = JSON.parse(await response.text());
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  };

  let backend = await bootBackend();
  const register = 'mutation($input: SystemKeyInput!) { registerSystemKey(input: $input) }';
  await must(register, { input: { component: 'remote-mcp', key: systemKeys.remoteMcp.reveal() } });
  await must(register, {
    input: { component: 'runtime', key: systemKeys.runtime.reveal(), runtimeNames: ['cloud', 'lonely'] },
  });
  const connect = (name = 'cloud') => connectRuntime(hub, { key: systemKeys.runtime, name });
  const runtime = await connect();
  const runtimes = [runtime];
  const others: RunningService[] = [];
  let remoteMcp = await bootRemoteMcp();
  await untilReady(remoteMcp);

  const platform = (): Platform => ({
    ...{ hub, remoteMcp, runtime, logged, must },
    runtimeKey: systemKeys.runtime.reveal(),
    variables: { backend: ofBackend, remoteMcp: ofRemoteMcp() },
    url: remoteMcp.url ?? '',
    mcpUrl: `${remoteMcp.url}/mcp`,
    backendUrl: backendUrl(),
    startAnother: async (env, through, drainMs) => {
      const another = await bootRemoteMcp(env, through, drainMs);
      others.push(another);
      await untilReady(another);
      return another;
    },
    connectRuntime: async (name) => {
      const another = await connect(name);
      runtimes.push(another);
      return another;
    },
    sign: (claims, type) => new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: type }).sign(privateKey),
    stopBackend: () => backend.stop(),
    startBackend: async () => {
      backend = await bootBackend();
    },
    restartRemoteMcp: async () => {
      await remoteMcp.stop();
      remoteMcp = await bootRemoteMcp();
      await untilReady(remoteMcp);
      return platform();
    },
    stop: async () => {
      for (const service of [remoteMcp, ...others]) await service.stop();
      for (const one of runtimes) await one.stop();
      await backend.stop();
      await hub.stop();
      await rm(folder, { recursive: true, force: true });
    },
  });
  return platform();
}

export async function untilReady({ url }: RunningService): Promise<void> {
  await until(async () => (await fetch(`${url}/ready`)).status === 200);
}

/** Waits until the condition holds. */
export async function until(isSo: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It did not come about within ${deadlineMs} ms: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
