import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startBackend } from '../../../services/backend/start.ts';
import { newKey } from '../../../services/contracts/keys.ts';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import type { RunningService } from '../../../services/kit/service.ts';
import { startRemoteMcp } from '../../../services/remote-mcp/start.ts';
import { openBackendClient } from '../../client/backend-client.ts';
import { mintOperatorToken } from '../../client/operator-token.ts';
import { makeCertificate } from './certificate.ts';

/** A backend has started by then. */
const lapseMs = 2000;

/** A platform on a real bus, without a runtime: NATS as a process, backend and remote-mcp in this one. */
export class PlatformOnNats implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-elsewhere-'));
  readonly logged: string[] = [];
  readonly #stack = new AsyncDisposableStack();
  readonly #privateKey: string;
  #backend: RunningService | null = null;
  #backendPort = '0';
  bus!: TestServer;
  mcpUrl = '';

  private constructor() {
    const pair = generateKeyPairSync('ed25519');
    this.#privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(join(this.folder, 'private.pem'), this.#privateKey);
    writeFileSync(join(this.folder, 'public.pem'), pair.publicKey.export({ type: 'spki', format: 'pem' }));
    this.#stack.defer(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
  }

  static async start({ tls = false } = {}): Promise<PlatformOnNats> {
    const platform = new PlatformOnNats();
    if (tls) makeCertificate(platform.folder, 'bus', 'IP:127.0.0.1');
    platform.bus = await TestServer.start(platform.folder, { tls });
    platform.#stack.defer(() => platform.bus.stop());
    platform.#stack.defer(() => platform.stopBackend());
    await platform.startBackend();
    const systemKey = newKey('system').reveal();
    const input = { component: 'remote-mcp', key: systemKey };
    await platform.must('mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }', { input });
    const remoteMcp = await startRemoteMcp(
      { ...platform.#onBus(), REMOTE_PORT: '0', SYSTEM_KEY: systemKey, PRIVATE_BACKEND_URL: platform.backendUrl },
      platform.#surroundings,
    );
    platform.#stack.defer(() => remoteMcp.stop());
    platform.mcpUrl = `${remoteMcp.url}/mcp`;
    return platform;
  }

  get backendUrl(): string {
    return `http://127.0.0.1:${this.#backendPort}`;
  }

  get authorityFile(): string {
    return join(this.folder, 'bus.pem');
  }

  async startBackend(): Promise<void> {
    const { callout, system, issuer } = this.bus.seeds;
    this.#backend = await startBackend(
      {
        ...this.#onBus(),
        PORT: this.#backendPort,
        BUS_CALLOUT_SEED: callout.reveal(),
        BUS_SYSTEM_SEED: system.reveal(),
        BUS_ISSUER_SEED: issuer.reveal(),
        PRIVATE_GRAPHDB_URL: `file:${join(this.folder, 'graph.sqlite')}`,
        ENCRYPTION_KEY: '5e'.repeat(32),
        JWT_PRIVATE_KEY_PATH: join(this.folder, 'private.pem'),
        JWT_PUBLIC_KEY_PATH: join(this.folder, 'public.pem'),
      },
      this.#surroundings,
    );
    this.#backendPort = new URL(this.#backend.url ?? '').port;
  }

  /** Makes replaced keys of this runtime expire in a moment, as if a day had passed; the backend restarts meanwhile. */
  async letKeysExpire(runtime: string): Promise<void> {
    await this.stopBackend();
    const database = new DatabaseSync(join(this.folder, 'graph.sqlite'));
    const shorten = 'update runtimeKey set expiresAt = ? where runtime = ? and expiresAt > ?';
    database.prepare(shorten).run(Date.now() + lapseMs, runtime, Date.now());
    database.close();
    await this.startBackend();
  }

  async stopBackend(): Promise<void> {
    await this.#backend?.stop();
    this.#backend = null;
  }

  /** As an operator. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  must(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<any> {
    const token = () =>
      mintOperatorToken({ privateKey: this.#privateKey, issuer: 'service-platform', nowMs: Date.now() });
    return openBackendClient([this.backendUrl], token).query(query, variables, (data) => data);
  }

  #onBus() {
    return {
      BUS_SERVERS: this.bus.url,
      ...(this.bus.url.startsWith('tls') ? { BUS_CA_PATH: this.authorityFile } : {}),
    };
  }

  get #surroundings() {
    return { hub: null, version: '1.2.3', log: { write: (line: string) => void this.logged.push(line) } };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
