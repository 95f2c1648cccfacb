import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../../services/contracts/keys.ts';
import { findNatsServer } from '../../../services/kit/bus/nats/test/server.ts';
import {
  createKeyMutation,
  createMcpServerMutation,
  createRoleMutation,
  createSkillMutation,
  createWorkspaceMutation,
  registerRuntimeMutation,
  revokeRuntimeMutation,
} from '../../client/generated/operations.ts';
import { type Agent, connectAgent } from '../../test/agent.ts';
import { Elsewhere, type StartedRuntime } from './elsewhere.ts';
import { type PlatformOnNats, startOnNats } from './platform-on-nats.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const server = fileURLToPath(new URL('../../../templates/demo/server.mjs', import.meta.url));
/** It takes a tenth of a second; without being ended it would learn it from its next handshake, within fifteen. */
const kickedMaxMs = 5000;
/** A backend has started by then. */
const lapseMs = 2000;
const patiently = { timeout: 30_000, interval: 50 };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  let platform: PlatformOnNats;
  let workspace = '';
  let agent: Agent;

  beforeAll(async () => {
    platform = await startOnNats();
    ({ workspace, agent } = await newTenant('edge'));
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  /** A workspace whose one MCP server runs on the runtime of that name, and an agent that may use it. */
  async function newTenant(runtime: string) {
    const { backend, mcpUrl } = platform;
    const owned = { name: `of ${runtime}`, ownerEmail: `${runtime}@example.com` };
    const w = (await backend.send(createWorkspaceMutation, { input: owned })).createWorkspace.id;
    await register(w, runtime);
    const launch = { command: process.execPath, args: [server] };
    await backend.send(createMcpServerMutation, { workspace: w, input: { name: 'demo', runtime, launch } });
    const tools = [{ mcpServer: 'demo', tool: 'add' }];
    const { createSkill } = await backend.send(createSkillMutation, { workspace: w, input: { name: 'all', tools } });
    await backend.send(createRoleMutation, { workspace: w, input: { name: 'All', skills: [createSkill.id] } });
    const { createKey } = await backend.send(createKeyMutation, { workspace: w, input: { name: 'agent' } });
    return { workspace: w, agent: await connectAgent(`${mcpUrl}?skillIds=${createSkill.id}`, createKey.secret) };
  }

  async function register(w: string, name: string) {
    const { registerRuntime } = await platform.backend.send(registerRuntimeMutation, { workspace: w, name });
    return { key: registerRuntime.secret, id: registerRuntime.runtime.id };
  }

  /** Makes replaced keys of this runtime expire in a moment, as if a day had passed. The backend restarts meanwhile. */
  async function letKeysExpire(runtime: string): Promise<void> {
    await platform.stopBackend();
    const database = new DatabaseSync(join(platform.plan.installation.dataDir, 'graph.sqlite'));
    const shorten = 'update runtimeKey set expiresAt = ? where runtime = ? and expiresAt > ?';
    database.prepare(shorten).run(Date.now() + lapseMs, runtime, Date.now());
    database.close();
    await platform.startBackend();
  }

  const brought = (key: string) => ({
    RUNTIME_KEY: key,
    BUS_SERVERS: platform.bus.url,
    SVC_WORKING_DIR: 'edge-work',
    HEARTBEAT_INTERVAL: '200',
  });

  /** The answer to an agent that asks for one and one. */
  const sum = () => agent.text('add', { a: 1, b: 1 }).catch((error: Error) => error.message);
  const serves = () => expect.poll(sum, patiently).toBe('2');

  async function startedWith(elsewhere: Elsewhere, key: string): Promise<StartedRuntime> {
    elsewhere.bring(brought(key));
    const runtime = elsewhere.start();
    await serves();
    return runtime;
  }

  test('it needs only the output of register, serves agents, and leaves nothing when it is ended', async () => {
    using elsewhere = new Elsewhere();
    const runtime = await startedWith(elsewhere, (await register(workspace, 'edge')).key);
    expect(runtime.lines.every(({ service }) => service === 'runtime')).toBe(true);
    expect(existsSync(join(elsewhere.folder, 'edge-work', 'homes'))).toBe(true);
    expect(await runtime.end('SIGINT')).toBe(0);
    expect(runtime.stderr).toMatch(/Stopped; its MCP servers have ended\.\n$/);
    expect(runtime.stdout + runtime.stderr).not.toContain('RTK_');
  });

  test('while it is away, agents get an error with names; once it is back, it serves without any restart', async () => {
    using elsewhere = new Elsewhere();
    const { key } = await register(workspace, 'edge');
    const killed = await startedWith(elsewhere, key);
    await killed.end('SIGKILL');
    await expect.poll(sum, patiently).toMatch(/MCP server "demo" is Disconnected: .*runtime "edge".*svc runtime/s);
    const runtime = elsewhere.start();
    await serves();
    await runtime.end('SIGTERM');
  });

  test('a revoked runtime is ended, says why, and returns with a new key', async () => {
    using elsewhere = new Elsewhere();
    const { key, id } = await register(workspace, 'edge');
    const runtime = await startedWith(elsewhere, key);
    const ended = runtime.end();
    const began = performance.now();
    await platform.backend.send(revokeRuntimeMutation, { workspace, id });
    await expect.poll(() => runtime.said('changed the connection to the bus'), patiently).toBe(true);
    expect(performance.now() - began).toBeLessThan(kickedMaxMs);
    expect(await ended).toBe(3);
    expect(runtime.stderr).toMatch(/Error: This RUNTIME_KEY is not known to the platform, or was revoked\./);
    await expect.poll(sum, patiently).toContain('The runtime "edge", on which the MCP server "demo" runs, was revoked');

    const again = elsewhere.start();
    expect(await again.end()).toBe(3);
    const renewed = await startedWith(elsewhere, (await register(workspace, 'edge')).key);
    expect(await renewed.end('SIGTERM')).toBe(0);
  });

  test('a connection with a replaced key is ended when its day is over, and no other', async () => {
    using old = new Elsewhere();
    using present = new Elsewhere();
    const before = await register(workspace, 'edge');
    const late = await startedWith(old, before.key);
    const after = await startedWith(present, (await register(workspace, 'edge')).key);
    await letKeysExpire(before.id);
    expect(await late.end()).toBe(3);
    expect(late.stderr).toContain('This RUNTIME_KEY has expired: a newer one was issued.');
    await serves();
    expect(after.lines.filter(({ state }) => state === 'disconnected')).toEqual([]);
    expect(await after.end('SIGTERM')).toBe(0);
  });

  test('a key that was not issued is refused with the repair, also as JSON', async () => {
    using elsewhere = new Elsewhere();
    elsewhere.bring(brought(newKey('runtime').reveal()));
    const runtime = elsewhere.start('--json');
    expect(await runtime.end()).toBe(3);
    expect(runtime.lines.at(-1)).toEqual({
      error: {
        code: 'unauthenticated',
        message: 'This RUNTIME_KEY is not known to the platform, or was revoked.',
        hint: expect.stringContaining('svc runtime register'),
      },
    });
  });

  test('two never work in one folder', async () => {
    using elsewhere = new Elsewhere();
    const first = await startedWith(elsewhere, (await register(workspace, 'edge')).key);
    const second = elsewhere.start();
    expect(await second.end()).toBe(5);
    expect(second.stderr).toContain(`Another runtime (process ${first.child.pid}) works in`);
    await serves();
    await first.end('SIGTERM');
  });

  test('an unreachable bus is waited for, and reported once', async () => {
    using elsewhere = new Elsewhere();
    const { key } = await register(workspace, 'edge');
    const bus = platform.bus;
    await bus.stop();
    elsewhere.bring({ ...brought(key), LOG_LEVEL: 'debug' });
    const runtime = elsewhere.start();
    const failures = () => runtime.lines.filter(({ msg }) => msg === 'failed to connect to the bus');
    await expect.poll(() => failures().length, patiently).toBeGreaterThanOrEqual(3);
    expect(
      failures()
        .map(({ level }) => level)
        .slice(0, 3),
    ).toEqual(['warn', 'debug', 'debug']);
    expect(failures()[0]).toMatchObject({ err: { message: expect.stringContaining('Cannot reach the bus') } });
    await bus.start();
    await serves();
    await runtime.end('SIGTERM');
  });
});

describe.skipIf(findNatsServer() === null)('on a real server with TLS', () => {
  test('a bus with an unknown authority does not get the key, and one with a known authority does', async () => {
    await using platform = await startOnNats({ tls: true });
    using elsewhere = new Elsewhere();
    const owned = { name: 'tls', ownerEmail: 'tls@example.com' };
    const workspace = (await platform.backend.send(createWorkspaceMutation, { input: owned })).createWorkspace.id;
    const { registerRuntime } = await platform.backend.send(registerRuntimeMutation, { workspace, name: 'edge' });
    const brought = { RUNTIME_KEY: registerRuntime.secret, BUS_SERVERS: platform.bus.url, SVC_WORKING_DIR: 'work' };
    elsewhere.bring(brought);
    const distrustful = elsewhere.start();
    await expect.poll(() => distrustful.said('failed to connect to the bus'), patiently).toBe(true);
    expect(distrustful.stdout).toMatch(
      /is not trusted, and received no credential: it has a self-signed certificate\..*BUS_CA_PATH/,
    );
    await distrustful.end('SIGTERM');

    await copyFile(platform.authorityFile, join(elsewhere.folder, 'edge-ca.pem'));
    elsewhere.bring({ ...brought, BUS_CA_PATH: 'edge-ca.pem' });
    const trustful = elsewhere.start();
    await expect.poll(() => trustful.said('was accepted by the backend'), patiently).toBe(true);
    await trustful.end('SIGTERM');
  });
});
