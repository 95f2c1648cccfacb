import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command, type KeyReply, keyReply } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type Bus, payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import { answerKeyChecks } from '../keys/check-key.ts';
import { createKey } from '../keys/create-key.ts';
import { openLastUsed } from '../keys/last-used.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { revokeRuntime } from '../runtimes/revoke-runtime.ts';
import { startRuntimes } from '../runtimes/start-runtimes.ts';
import { Turns } from '../runtimes/turns.ts';
import { watchProcesses } from '../runtimes/watch-processes.ts';
import { checkEncryptionKey, encryptionKeysSetting } from '../secrets/check-encryption-key.ts';
import { createMcpServer, restartMcpServer } from '../servers/change-servers.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { createWorkspace } from '../workspaces/create-workspace.ts';
import { addWorkspace, openAnotherBackend, openTestBackend, operator, type TestBackend } from './open-test-backend.ts';
import { connectPlatformRuntime, type TestRuntime } from './test-runtime.ts';

/** The machine may be busy with other work. */
const patiently = { timeout: 10_000 };

let first: TestBackend;
let second: TestBackend;
let parts: Subscription[];
let workspace: WorkspaceId;
let owner: TokenPrincipal;

/** Starts all listeners of a backend on the bus. */
async function start(backend: TestBackend): Promise<void> {
  const lastUsed = openLastUsed(backend, 60_000);
  parts.push(answerKeyChecks(backend, lastUsed), await startRuntimes(backend), lastUsed);
}

beforeEach(async () => {
  parts = [];
  first = await openTestBackend();
  second = await openAnotherBackend(first);
  await start(first);
  await start(second);
  ({ id: workspace, owner } = await addWorkspace(first, 'acme'));
});
afterEach(async () => {
  for (const part of parts) await part.stop();
  await second.close();
  await first.close();
});

const both = () => [first, second];

/** Commands to a process, in the order in which it receives them. */
function commandsOf({ bus, runtime, process }: TestRuntime): string[] {
  const heard: string[] = [];
  bus.subscribe(subjects.command(runtime, process), ({ payload }) => {
    heard.push(parseBody(command, payload, payloadMaxBytes).kind);
  });
  return heard;
}

async function connectRemoteMcp(): Promise<{ readonly bus: Bus; check(key: string): Promise<KeyReply> }> {
  const key = newKey('system');
  await registerSystemKey(first, operator, { component: 'remote-mcp', key: key.reveal() });
  const bus = await first.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
  return {
    bus,
    async check(text) {
      const { payload } = await bus.request(subjects.key(bus.identity.process), toBody({ key: text }), {
        timeoutMs: 10_000,
      });
      return parseBody(keyReply, payload, payloadMaxBytes);
    },
  };
}

describe('of an empty platform', () => {
  test('several make one workspace of a name, one owner and one of each system key', async () => {
    const key = newKey('system').reveal();
    const input = { name: 'Default', ownerEmail: 'owner@localhost' };
    const made = await Promise.allSettled(both().map((backend) => createWorkspace(backend, operator, input)));
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } });
    const register = { component: 'runtime', key, runtimeNames: ['cloud'] };
    await Promise.all(both().map((backend) => registerSystemKey(backend, operator, register)));
    const count = (type: 'user' | 'systemKey') => first.graph.count({ type, anchor: null, limit: 10 });
    // Besides the workspace of every test and its owner.
    expect([await count('user'), await count('systemKey')]).toEqual([2, 1]);
  });

  test('several write one fingerprint of the encryption key', async () => {
    await Promise.all(both().map(({ graph, secrets }) => checkEncryptionKey(graph, secrets)));
    const setting = await first.graph.findBy('setting', { name: encryptionKeysSetting }, null);
    expect(setting?.value).toBe(first.secrets.fingerprints[0]);
  });
});

describe('keys', () => {
  test('that one issued and another revoked are invalid for all of them', async () => {
    const { secret, key } = await createKey(first, { principal: owner, workspace }, { name: 'agent' });
    const remoteMcp = await connectRemoteMcp();
    const checks = async () => {
      const replies = await Promise.all(Array.from({ length: 8 }, () => remoteMcp.check(secret.reveal())));
      return new Set(replies.map(({ ok }) => ok));
    };
    expect(await checks()).toEqual(new Set([true]));
    await revokeKey(second, { principal: owner, workspace }, key.id);
    expect(await checks()).toEqual(new Set([false]));
  });

  test('are checked by the remaining backends, whichever stops', async () => {
    const { secret } = await createKey(first, { principal: owner, workspace }, { name: 'agent' });
    const remoteMcp = await connectRemoteMcp();
    await parts[0]?.stop();
    const replies = await Promise.all(Array.from({ length: 8 }, () => remoteMcp.check(secret.reveal())));
    expect(replies.every(({ ok }) => ok)).toBe(true);
  });
});

describe('a process of a runtime', () => {
  test('is available to each of them while it sends heartbeats, and to none once its connection has ended', async () => {
    const cloud = await connectPlatformRuntime(first, 'cloud');
    cloud.beat(60_000);
    const available = () => both().map(({ processes }) => processes.isAvailable(cloud.runtime));
    await expect.poll(available, patiently).toEqual([true, true]);
    await cloud.bus.close();
    await expect.poll(available, patiently).toEqual([false, false]);
  });

  test('is known to a starting backend without waiting for the next heartbeat', async () => {
    const { id } = await createMcpServer(first, owner, workspace, { name: 'files', launch: { command: 'run' } });
    const cloud = await connectPlatformRuntime(first, 'cloud');
    cloud.bus.subscribe(subjects.command(cloud.runtime, cloud.process), () => cloud.beat(60_000));
    await cloud.report([{ mcpServer: id }]);
    const third = await openAnotherBackend(first);
    const watching = watchProcesses(third, new Turns());
    await expect.poll(() => third.processes.isAvailable(cloud.runtime), patiently).toBe(true);
    await watching.stop();
    await third.close();
  });

  test('whose end all of them handle raises the status of its workspace once', async () => {
    const { id } = await createMcpServer(first, owner, workspace, { name: 'files', launch: { command: 'run' } });
    const cloud = await connectPlatformRuntime(first, 'cloud');
    cloud.beat(60_000);
    await cloud.report([{ mcpServer: id }]);
    const revision = async () => (await first.graph.find('workspace', workspace, null))?.statusRevision ?? 0;
    const before = await revision();
    await cloud.bus.close();
    const statuses = () => first.graph.count({ type: 'status', anchor: workspace, limit: 1 });
    await expect.poll(statuses, patiently).toBe(0);
    for (const part of parts.splice(0)) await part.stop();
    expect(await revision()).toBe(before + 1);
  });

  test('receives a restart from a backend that does not know it yet', async () => {
    const { id } = await createMcpServer(first, owner, workspace, { name: 'files', launch: { command: 'run' } });
    const cloud = await connectPlatformRuntime(first, 'cloud');
    await cloud.report([{ mcpServer: id }]);
    const heard = commandsOf(cloud);
    for (const { processes } of both()) processes.gone(cloud);
    await restartMcpServer(second, owner, workspace, id);
    await expect.poll(() => heard, patiently).toContain('restart');
  });

  test('is disconnected at once when one of them revokes its runtime, whichever admitted it', async () => {
    const cloud = await connectPlatformRuntime(first, 'cloud');
    cloud.beat(60_000);
    await expect.poll(() => second.processes.isAvailable(cloud.runtime), patiently).toBe(true);
    const lost = new Promise((resolve) => cloud.bus.onConnection(resolve));
    await revokeRuntime(second, operator, { workspace: null, id: cloud.runtime });
    expect(await lost).toBe('disconnected');
  });
});
