import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, handshakeMaxBytes, handshakeRequest, helloReply, homesMax } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { createMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { removeMcpServer } from '../servers/remove-server.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, connectRuntime, type TestRuntime } from '../test/test-runtime.ts';
import { registerRuntime } from './register-runtime.ts';
import { startRuntimes } from './start-runtimes.ts';

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;

beforeAll(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
});
afterAll(async () => {
  await started.stop();
  await backend.close();
});

let count = 0;
const secret = 'planted-secret-value';
const launch = { command: 'run', args: ['me'], env: [{ name: 'TOKEN', value: secret }] };

async function newWorkspace() {
  const workspace = await addWorkspace(backend, `workspace-${count++}`);
  const { id, owner } = workspace;
  return {
    ...workspace,
    addServer: (name: string, runtime?: string) => createMcpServer(backend, owner, id, { name, launch, runtime }),
    addRuntime: async (name: string) => {
      const { secret: key } = await registerRuntime(backend, owner, { workspace: id, name });
      return await connectRuntime(backend, { kind: 'runtime', key });
    },
  };
}

const revoke = ({ runtime }: TestRuntime) =>
  backend.graph.write((transaction) =>
    transaction.update('runtime', runtime, { revokedAt: Date.now() }, { anchor: null }),
  );

const namesIn = async (runtime: TestRuntime) => (await runtime.shakeHands()).assignments?.map(({ name }) => name) ?? [];

describe('a handshake', () => {
  test('gives a process its assignments, sealed to its key', async () => {
    const { id, addServer } = await newWorkspace();
    const server = await addServer('files');
    const { assignments, mcpUrl, text } = await cloud.shakeHands();
    expect(mcpUrl).toBe(backend.config.PUBLIC_MCP_URL);
    expect(assignments).toContainEqual({
      mcpServer: server.id,
      workspace: id,
      name: 'files',
      configVersion: 1,
      launch: { kind: 'child', command: 'run', args: ['me'], cwd: null, env: { TOKEN: secret } },
      setBy: 'member',
    });
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString('base64url').slice(0, 20));
  });

  test('has changed deadlines, with the configuration that it had', async () => {
    const { id, owner, addServer } = await newWorkspace();
    const { id: mcpServer } = await addServer('slow');
    const { etag } = await cloud.shakeHands();
    await updateMcpServer(backend, owner, id, mcpServer, { startTimeout: 300, callTimeout: 600 });
    const { assignments } = await cloud.shakeHands(etag);
    const deadlines = { startTimeout: 300, callTimeout: 600 };
    expect(assignments).toContainEqual(expect.objectContaining({ mcpServer, configVersion: 1, ...deadlines }));
  });

  test('leaves out a launch that is no longer allowed, with the reason', async () => {
    const { id, owner, addServer } = await newWorkspace();
    const { id: mcpServer } = await addServer('narrowed');
    const url = await createMcpServer(backend, owner, id, {
      name: 'reached',
      launch: { url: 'http://localhost:1/mcp' },
    });
    const { etag } = await cloud.shakeHands();
    await started.stop();
    const narrower = { ...backend, config: { ...backend.config, MCP_SERVER_COMMANDS: 'npx' } };
    started = await startRuntimes(narrower);
    const { assignments: all, etag: narrowed } = await cloud.shakeHands(etag);
    expect(all).toContainEqual({
      ...{ mcpServer, workspace: id, name: 'narrowed', configVersion: 1 },
      refused: {
        code: 'command_refused',
        message: 'Refused by the setting runtime.commands: the command "run" is not one of npx.',
        repair: expect.stringContaining('MCP_SERVER_COMMANDS'),
      },
    });
    expect(all).toContainEqual(expect.objectContaining({ mcpServer: url.id, launch: expect.anything() }));
    expect(JSON.stringify(all)).not.toContain(secret);
    expect(await cloud.shakeHands(narrowed)).toMatchObject({ etag: narrowed, assignments: null });
    await started.stop();
    started = await startRuntimes(backend);
    expect((await cloud.shakeHands(narrowed)).assignments).toContainEqual(
      expect.objectContaining({ mcpServer, launch: expect.anything() }),
    );
  });

  test('seals nothing when the process has the current assignments, and seals again after any change', async () => {
    const { id, owner, addServer } = await newWorkspace();
    const server = await addServer('files');
    const { etag } = await cloud.shakeHands();
    expect(await cloud.shakeHands(etag)).toMatchObject({ etag, assignments: null });
    const changes = [
      { launch: { ...launch, args: ['other'] } },
      { name: 'documents' },
      { enabled: false },
      { enabled: true },
    ];
    let last = etag;
    for (const patch of changes) {
      await updateMcpServer(backend, owner, id, server.id, patch);
      const next = await cloud.shakeHands(last);
      expect(next.assignments, JSON.stringify(patch)).not.toBeNull();
      last = next.etag;
    }
    await removeMcpServer(backend, owner, id, { id: server.id });
    expect((await cloud.shakeHands(last)).assignments).not.toBeNull();
  });

  test('leaves out disabled MCP servers', async () => {
    const { id, owner, addServer } = await newWorkspace();
    const server = await addServer(`disabled-${count}`);
    await updateMcpServer(backend, owner, id, server.id, { enabled: false });
    expect(await namesIn(cloud)).not.toContain(server.name);
  });

  test("gives a workspace's runtime its own assignments and nothing of another workspace", async () => {
    const one = await newWorkspace();
    const other = await newWorkspace();
    const office = await one.addRuntime('office');
    const elsewhere = await other.addRuntime('office');
    await one.addServer('bound', 'office');
    await one.addServer('unbound');
    await other.addServer('foreign', 'office');
    expect(await namesIn(office)).toEqual(['bound']);
    expect(await namesIn(elsewhere)).toEqual(['foreign']);
    const all = await namesIn(cloud);
    expect(all).toContain('unbound');
    expect(all).not.toContain('bound');
    expect(all).not.toContain('foreign');
  });

  test("an edge across workspaces gives a customer's runtime nothing", async () => {
    const one = await newWorkspace();
    const other = await newWorkspace();
    const office = await one.addRuntime('office');
    const server = await other.addServer('foreign');
    const edge = { from: 'mcpServer', edge: 'runtimes' } as const;
    await backend.graph.write((transaction) => transaction.link(edge, server.id, [office.runtime]));
    expect(await namesIn(office)).toEqual([]);
  });

  test('a launch that cannot be decrypted does not affect the others, and arrives once it can be', async () => {
    const { id, addServer } = await newWorkspace();
    const broken = await addServer(`broken-${count}`);
    const well = await addServer(`well-${count}`);
    const write = (launch: string) =>
      backend.graph.write((transaction) => transaction.update('mcpServer', broken.id, { launch }, { anchor: id }));
    await write(well.launch);
    const { etag, assignments } = await cloud.shakeHands();
    const names = assignments?.map(({ name }) => name);
    expect(names).toContain(well.name);
    expect(names).not.toContain(broken.name);
    expect(backend.logged.join('')).toContain('failed to decrypt a launch');
    await write(broken.launch);
    expect((await cloud.shakeHands(etag)).assignments?.map(({ name }) => name)).toContain(broken.name);
  });

  test('names the homes that are no longer needed: those of removed MCP servers', async () => {
    const { id, owner, addServer, addRuntime } = await newWorkspace();
    const [there, off, gone] = [await addServer('there'), await addServer('off'), await addServer('gone')];
    await updateMcpServer(backend, owner, id, off.id, { enabled: false });
    const homes = [there.id, off.id, gone.id];
    expect(await cloud.askRemoved(homes)).toEqual([]);
    await removeMcpServer(backend, owner, id, { id: gone.id });
    expect(await cloud.askRemoved(homes)).toEqual([gone.id]);
    expect(await (await addRuntime('office')).askRemoved(homes)).toEqual([gone.id]);
    expect(await cloud.askRemoved([])).toEqual([]);
  });

  test("does not reveal to a customer's runtime which ids exist in other workspaces", async () => {
    const victim = await newWorkspace();
    const [there, gone] = [await victim.addServer('there'), await victim.addServer('gone')];
    await removeMcpServer(backend, victim.owner, victim.id, { id: gone.id });
    const stranger = await (await newWorkspace()).addRuntime('office');
    const never = newId('mcpServer');
    expect(await stranger.askRemoved([there.id, gone.id, never])).toEqual([there.id, gone.id, never]);
    const many = Array.from({ length: 501 }, () => newId('mcpServer'));
    await expect(stranger.askRemoved(many)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is refused with an invalid public key', async () => {
    const key = (x: string) => ({ kty: 'OKP', crv: 'X25519', x }) as const;
    const refused = { code: 'invalid_input' };
    await expect(cloud.shakeHands(undefined, key('AAAA'))).rejects.toMatchObject(refused);
    // A point of low order: every shared secret with it is zero (RFC 7748 §6.1).
    const zero = key(Buffer.alloc(32).toString('base64url'));
    await expect(cloud.shakeHands(undefined, zero)).rejects.toMatchObject(refused);
  });

  test('is refused to a revoked runtime', async () => {
    const { addRuntime } = await newWorkspace();
    const office = await addRuntime('office');
    // The connection of a process outlives the revocation for as long as it takes to end it.
    await revoke(office);
    await expect(office.shakeHands()).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('is refused unparsed above its limit', async () => {
    const body = Buffer.alloc(handshakeMaxBytes + 1, '[');
    const request = cloud.bus.request(subjects.handshake(cloud.runtime, cloud.process), body, { timeoutMs: 5000 });
    await expect(request).rejects.toMatchObject({ code: 'too_large' });
  });

  test('of the longest texts and all homes fits twice', () => {
    const text = '\u0001'.repeat(255);
    const homes = Array.from({ length: homesMax }, () => newId('mcpServer'));
    const publicKey = { kty: 'OKP', crv: 'X25519', x: 'x'.repeat(64) } as const;
    const longest = {
      version: text,
      sandbox: text,
      confinesMembers: true,
      publicKey,
      etag: text,
      homes,
    };
    const body = toBody(longest);
    expect(body.byteLength).toBeLessThan(handshakeMaxBytes / 2);
    expect(parseBody(handshakeRequest, body, handshakeMaxBytes).homes).toHaveLength(homesMax);
  });

  test('of a revoked runtime is refused before it is parsed', async () => {
    const { addRuntime } = await newWorkspace();
    const office = await addRuntime('office');
    await revoke(office);
    for (const subject of [subjects.handshake, subjects.report]) {
      const request = office.bus.request(subject(office.runtime, office.process), Buffer.from('no JSON'), {
        timeoutMs: 5000,
      });
      await expect(request).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  test('under the name of another process is not possible', async () => {
    const { addRuntime } = await newWorkspace();
    const office = await addRuntime('office');
    const asCloud = subjects.handshake(cloud.runtime, cloud.process);
    await expect(office.bus.request(asCloud, new Uint8Array(), { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

test('after a change, only the processes concerned get a command to fetch', async () => {
  const { id, owner, addServer, addRuntime } = await newWorkspace();
  const office = await addRuntime('office');
  const other = await addRuntime('other');
  const server = await addServer('files', 'office');
  await office.shakeHands();
  await other.shakeHands();
  const heard: string[] = [];
  const told = Promise.withResolvers<unknown>();
  office.bus.subscribe(subjects.command(office.runtime, office.process), ({ payload }) => {
    heard.push('office');
    told.resolve(parseBody(command, payload, payloadMaxBytes));
  });
  other.bus.subscribe(subjects.command(other.runtime, other.process), () => void heard.push('other'));
  await updateMcpServer(backend, owner, id, server.id, { enabled: false });
  expect(await told.promise).toEqual({ kind: 'assignments' });
  expect(heard).toEqual(['office']);
});

test('remote-mcp receives the addresses', async () => {
  const key = newKey('system');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: key.reveal() });
  const bus = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
  const { payload } = await bus.request(subjects.hello(bus.identity.process), new Uint8Array(), { timeoutMs: 5000 });
  expect(parseBody(helloReply, payload, payloadMaxBytes)).toEqual({
    backendUrl: backend.config.PUBLIC_BACKEND_URL,
    mcpUrl: backend.config.PUBLIC_MCP_URL,
  });
});
