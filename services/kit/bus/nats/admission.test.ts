import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, headers, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { WireClient } from '../../../../stack/test/adversary/wire-client.ts';
import type { Identity, RuntimeIdentity } from '../../../contracts/bus/permissions.ts';
import { buckets, subjects } from '../../../contracts/bus/subjects.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../log.ts';
import type { Authorizer, Credentials } from '../bus.ts';
import { connectNats } from './connect.ts';
import { countSoonAfterMs } from './connection-counts.ts';
import { connectionName, newInbox } from './login.ts';
import type { NatsBus } from './nats-bus.ts';
import { OwnIntroduction } from './own-introduction.ts';
import { findNatsServer, TestServer, type TestServerOptions } from './test/server.ts';

const remoteMcp: Credentials = { kind: 'system', component: 'remote-mcp', key: new Secret('SYK-remote-mcp') };
const runtimeKey: Credentials = { kind: 'runtime', key: new Secret('RTK-edge') };
const [workspace, otherWorkspace] = [newId('workspace'), newId('workspace')];
const runtimes: Readonly<Record<string, Pick<RuntimeIdentity, 'runtime' | 'name' | 'workspace'>>> = {
  'RTK-edge': { runtime: newId('runtime'), name: 'edge', workspace },
  'RTK-second': { runtime: newId('runtime'), name: 'second', workspace },
  'RTK-third': { runtime: newId('runtime'), name: 'third', workspace },
  'RTK-foreign': { runtime: newId('runtime'), name: 'foreign', workspace: otherWorkspace },
  'RTK-own': { runtime: newId('runtime'), name: 'own', workspace: null },
};
const runtime = runtimes['RTK-edge']?.runtime ?? expect.fail();
const soon = { timeout: 10_000, interval: 20 };
const whoAmI = '$SYS.REQ.USER.INFO';

const authorizer: Authorizer = async (credentials, process) => {
  const key = credentials.kind === 'backend' ? '' : credentials.key.reveal();
  if (key === 'SYK-remote-mcp') return { kind: 'remote-mcp', process };
  const known = runtimes[key];
  if (known !== undefined) return { kind: 'runtime', process, ...known };
  throw new SvcError('unauthenticated', 'This key was revoked on Monday.', { hint: 'Register the runtime again.' });
};

let server: TestServer;
let backend: NatsBus;
let logged: string[];
const opened: (() => Promise<unknown>)[] = [];

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  beforeEach(async () => {
    logged = [];
    server = await startServer();
    backend = await openBackend();
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  describe.each([
    ['a refused client that asks why', 'why runtime', 'RTK-other'],
    ['a refused client of a named runtime', 'why runtime cloud', 'RTK-other'],
    ['a refused client that would be a remote-mcp', 'why remote-mcp', 'SYK-other'],
    ['an admitted runtime', 'runtime', 'RTK-edge'],
  ])('%s', (_, user, pass) => {
    it.each([
      ["in the previous version's form", inOldForm],
      ["in this version's form", inThisForm],
    ])('%s cannot make the server publish on subjects without permission', async (_form, shown) => {
      const victim = await open(remoteMcp);
      const sessions = victim.bucket(buckets.sessions, { maxAgeMs: 60_000 });
      await sessions.put('a', Buffer.from('1'));
      const gone: Identity[] = [];
      backend.onGone((identity) => void gone.push(identity));
      const heard: string[] = [];
      victim.subscribe('svc.gone.*.*', ({ subject }) => void heard.push(subject));
      await victim.flush();
      const hostile = await raw(shown(user, pass));
      const end = `remote-mcp-${victim.identity.process}`;
      const traced = headers();
      traced.set('Nats-Trace-Dest', `_G.remote-mcp.${end}`);
      for (const subject of [whoAmI, 'svc.identity.name']) {
        for (const reply of [`_G.remote-mcp.${end}`, subjects.gone(runtime, newProcessId()), '$KV.sessions.junk']) {
          for (let i = 0; i < 20; i++) hostile.publish(subject, '', { reply });
        }
        hostile.publish(subject, '', { headers: traced });
      }
      await hostile.flush();
      await victim.flush();
      expect(await sessions.get('junk')).toBeNull();
      expect({ heard, gone }).toEqual({ heard: [], gone: [] });
    });
  });

  it('a refused client that asks for the reason may publish nothing and subscribe to its own inbox only', async () => {
    const shown = inThisForm('why runtime', 'RTK-other');
    const hostile = await raw(shown);
    for (const subject of [whoAmI, 'svc.identity.name', `${shown.inboxPrefix}.told`, 'anything', '$JS.API.INFO']) {
      expect(await isRefused(hostile, () => hostile.publish(subject, 'x')), subject).toBe(true);
    }
    for (const pattern of ['>', '_I.>', '$SYS.>', `${newInbox()}.told`, 'svc.gone.*.*']) {
      expect(await isRefused(hostile, () => void hostile.subscribe(pattern)), pattern).toBe(true);
    }
    expect(await isRefused(hostile, () => void hostile.subscribe(`${shown.inboxPrefix}.told`))).toBe(false);
  });

  describe('refused clients that ask for the reason', () => {
    const stranger: Credentials = { kind: 'runtime', key: new Secret('RTK-other') };
    const fromAddresses = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => askFrom(`127.0.1.${index + 1}`)));
    const letIn = (answers: readonly boolean[]) => answers.filter((isIn) => isIn).length;

    it('are admitted up to a limit for each address and for a few seconds, while other clients connect freely', async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => askFrom('127.0.0.1')));
      expect(letIn(answers)).toBe(16);
      expect((await open(runtimeKey)).identity.kind).toBe('runtime');
      await expect(open(stranger)).rejects.toMatchObject({
        code: 'unavailable',
        message: 'No backend said why the bus refused this connection.',
      });
      expect(await askFrom('127.0.0.2')).toBe(true);
      await vi.waitFor(async () => await expect(open(stranger)).rejects.toMatchObject({ code: 'unauthenticated' }), {
        timeout: 10_000,
        interval: 500,
      });
    });

    it('from many addresses have one limit, and take no place of a runtime that proves itself', async () => {
      // The last of 32 places stays free.
      expect(letIn(await fromAddresses(100))).toBe(31);
      await backend.disconnect(runtime, { refusedMs: 60_000 });
      await expect(open(runtimeKey)).rejects.toMatchObject({ code: 'rate_limited' });
    });

    it('proven clients that ask for the reason have one limit for each workspace', async () => {
      for (const one of ['RTK-edge', 'RTK-second', 'RTK-foreign']) {
        await backend.disconnect(runtimes[one]?.runtime ?? expect.fail(), { refusedMs: 60_000 });
      }
      const keys = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'RTK-edge' : 'RTK-second'));
      expect(letIn(await Promise.all(keys.map((key) => askFrom('127.0.0.1', key))))).toBe(8);
      await expect(open({ kind: 'runtime', key: new Secret('RTK-foreign') })).rejects.toMatchObject({
        code: 'rate_limited',
      });
    });
  });

  it('refusals are logged once a minute for each sender', async () => {
    const refused = async () => await raw(inThisForm('runtime', 'RTK-other')).catch(() => null);
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 20 }, refused));
    const lines = logged.filter((line) => line.includes('refused a connection to the bus'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('This key was revoked on Monday.');
    expect(logged.join('')).not.toContain('RTK-other');
  });

  it('unproven clients under many names leave room in the log for refusals of a runtime', async () => {
    for (let i = 0; i < 5; i++) {
      const names = Array.from({ length: 20 }, (_, index) => `runtime other-${i}-${index}`);
      await Promise.all(names.map((name) => raw(inThisForm(name, 'RTK-other')).catch(() => null)));
    }
    await backend.disconnect(runtime, { refusedMs: 60_000 });
    await expect(open(runtimeKey)).rejects.toMatchObject({ code: 'rate_limited' });
    const lines = logged.filter((line) => line.includes('refused a connection to the bus'));
    expect(lines.filter((line) => line.includes('This key was revoked'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('sent more than it may'))).toHaveLength(1);
  });

  it('a runtime has a limit of subscriptions', async () => {
    const hostile = await raw(inThisForm('runtime', 'RTK-edge'));
    const inbox = inboxOf(hostile);
    const subscribe = () => isRefused(hostile, () => void hostile.subscribe(`${inbox}.${newProcessId()}`));
    const refused: boolean[] = [];
    for (let i = 0; i < 40; i++) refused.push(await subscribe());
    expect(refused.indexOf(true)).toBe(24);
  });

  describe('the connections of a runtime', () => {
    const enter = (key = 'RTK-edge', nonce = newProcessId()) =>
      raw(inThisForm('runtime', key, nonce)).catch(() => null);
    async function enterOften(count: number, key?: string): Promise<readonly NatsConnection[]> {
      const entered = await Promise.all(Array.from({ length: count }, () => enter(key)));
      return entered.filter((one) => one !== null);
    }
    const keyOf = (key: string): Credentials => ({ kind: 'runtime', key: new Secret(key) });
    const tooMany = (holder: string) => ({
      code: 'rate_limited',
      message: expect.stringMatching(`opened too many connections. This ${holder} connections to the bus at once.$`),
    });
    /** Each refusal takes a place for asking the reason. */
    const atEase = { timeout: 10_000, interval: 500 };
    const tellsOfTooMany = () => logged.filter((line) => line.includes('opened too many connections'));

    it('are two for each process, and an ended one makes room', async () => {
      const nonce = newProcessId();
      const entered = [await enter('RTK-edge', nonce), await enter('RTK-edge', nonce)];
      await expect(open(runtimeKey, nonce)).rejects.toMatchObject(tooMany('process may hold at most 2'));
      await open(runtimeKey);
      await entered[0]?.close();
      await vi.waitFor(() => open(runtimeKey, nonce), atEase);
      await expect(open(runtimeKey, nonce)).rejects.toMatchObject(tooMany('process may hold at most 2'));
    });

    it('have a limit, which the error names, and others are admitted', async () => {
      const entered = await enterOften(20);
      expect(entered).toHaveLength(16);
      await expect(open(runtimeKey)).rejects.toMatchObject(tooMany('runtime may hold at most 16'));
      expect(tellsOfTooMany()).toHaveLength(1);
      await open(remoteMcp);
      await open(keyOf('RTK-second'));
      await entered[0]?.close();
      await vi.waitFor(() => open(runtimeKey), atEase);
      // The other fifteen were in the list that freed this place.
      await expect(open(runtimeKey)).rejects.toMatchObject(tooMany('runtime may hold at most 16'));
    });

    it('count for their workspace, and other workspaces are admitted', async () => {
      for (const key of ['RTK-edge', 'RTK-second']) expect(await enterOften(16, key)).toHaveLength(16);
      await expect(open(keyOf('RTK-third'))).rejects.toMatchObject(tooMany('workspace may hold at most 32'));
      await open(keyOf('RTK-foreign'));
      expect(await enterOften(33, 'RTK-own')).toHaveLength(33);
    });

    it('count even when each is closed at once', { timeout: 60_000 }, async () => {
      let entries = 0;
      const begun = performance.now();
      while (performance.now() - begun < 3000) {
        const entered = await Promise.all(Array.from({ length: 32 }, () => enter()));
        for (const one of entered) await one?.close();
        entries += entered.filter((one) => one !== null).length;
      }
      const seconds = (performance.now() - begun) / 1000;
      expect(entries).toBeGreaterThan(16);
      expect(entries).toBeLessThanOrEqual(16 * (seconds + 1));
    });

    it('that existed before a backend count for it', async () => {
      expect(await enterOften(16)).toHaveLength(16);
      await openBackend();
      await backend.close();
      await expect(open(runtimeKey)).rejects.toMatchObject(tooMany('runtime may hold at most 16'));
    });

    it('count at every backend, whichever admits them', async () => {
      await openBackend();
      await openBackend();
      const nonce = newProcessId();
      let entries = 0;
      for (let tries = 0; tries < 12; tries++) {
        const one = await enter('RTK-edge', nonce);
        if (one === null) continue;
        entries++;
        // The backend confirms the connection after NATS has reported it to every backend.
        await told(one);
      }
      expect(entries).toBe(2);
    });

    it('return after each restart of NATS, and new processes are admitted, without a refusal', {
      timeout: 60_000,
    }, async () => {
      await openBackend();
      const states: string[] = [];
      for (let i = 0; i < 8; i++) (await open(runtimeKey)).onConnection((state) => states.push(state));
      const back = () => states.filter((state) => state === 'connected').length;
      for (const round of [1, 2, 3]) {
        await server.stop('SIGKILL');
        await server.start();
        await vi.waitUntil(() => back() === 8 * round, soon);
        // After a second restart before the next count, clients may be refused for a moment.
        await new Promise((resolve) => setTimeout(resolve, 2 * countSoonAfterMs));
      }
      for (let i = 0; i < 5; i++) await (await open(runtimeKey)).close();
      expect(tellsOfTooMany()).toEqual([]);
    });
  });

  it("a client that shows another's process id or nonce gets its own identity", async () => {
    const nonce = newProcessId();
    const victim = await told(await raw(inThisForm('remote-mcp', 'SYK-remote-mcp', nonce)));
    expect(victim.process).not.toBe(nonce);
    for (const taken of [nonce, victim.process]) {
      for (const shown of [inThisForm, inOldForm]) {
        const hostile = await raw(shown('runtime', 'RTK-edge', taken));
        const { process } = await (shown === inThisForm ? told(hostile) : asked(hostile));
        expect([nonce, victim.process]).not.toContain(process);
      }
    }
  });

  it('a client keeps its process id when it returns, whichever backend admits it', async () => {
    const edge = await open(runtimeKey);
    const { process } = edge.identity;
    const states: string[] = [];
    edge.onConnection((state) => states.push(state));
    await openBackend();
    await backend.close();
    await server.stop('SIGKILL');
    await server.start();
    await vi.waitUntil(() => states.includes('connected'), soon);
    expect(edge.identity.process).toBe(process);
    edge.publish(subjects.heartbeat(runtime, process), Buffer.from(''));
  });

  it('a runtime with a penalty is refused by every backend', async () => {
    const second = await openBackend();
    await open(runtimeKey);
    await backend.disconnect(runtime, { refusedMs: 60_000 });
    await second.flush();
    // A backend gives a workspace's clients eight reasons in five seconds, and NATS may ask the same backend each time.
    for (let i = 0; i < 8; i++) {
      await expect(open(runtimeKey)).rejects.toMatchObject({
        code: 'rate_limited',
        message: expect.stringContaining('"edge" sent more'),
      });
    }
    await open(remoteMcp);
  });

  describe('a client of the previous version', () => {
    it('asks NATS for its identity, and the backend that admitted it answers each time it connects', async () => {
      const backends = [backend, await openBackend(), await openBackend()];
      const nonce = newProcessId();
      const shown = inOldForm('runtime', 'RTK-edge', nonce);
      const client = await raw({
        ...shown,
        reconnect: true,
        reconnectTimeWait: 50,
        maxReconnectAttempts: -1,
        ignoreAuthErrorAbort: true,
      });
      const first = await asked(client);
      expect(first).toEqual({ kind: 'runtime', process: first.process, runtime, name: 'edge', workspace });
      const heard: string[] = [];
      for (const one of backends) one.subscribe('svc.heartbeat.*.*', ({ subject }) => void heard.push(subject));
      await Promise.all(backends.map((one) => one.flush()));
      client.publish(subjects.heartbeat(runtime, first.process), '{}');
      client.publish(subjects.heartbeat(runtime, nonce), '{}');
      await vi.waitUntil(() => heard.length >= 3, soon);
      expect(new Set(heard)).toEqual(new Set([subjects.heartbeat(runtime, first.process)]));
      await server.stop('SIGKILL');
      await server.start();
      await vi.waitFor(async () => expect(await asked(client)).toEqual(first), soon);
    });

    it('learns why it is refused', async () => {
      await expect(raw(inOldForm('runtime', 'RTK-other'))).rejects.toThrow(/Authorization Violation/);
      const client = await raw(inOldForm('why runtime', 'RTK-other'));
      expect(await asked(client)).toMatchObject({ kind: 'refused', message: 'This key was revoked on Monday.' });
    });

    it('can ask only about itself, and a limited number of times', async () => {
      const victim = inThisForm('remote-mcp', 'SYK-remote-mcp');
      const heard: string[] = [];
      const connection = await raw(victim);
      connection.subscribe(`${victim.inboxPrefix}.>`, { callback: (_error, { subject }) => void heard.push(subject) });
      await connection.flush();
      const shown = inOldForm('runtime', 'RTK-edge');
      const client = await raw(shown);
      const answers: string[] = [];
      client.subscribe(`${shown.inboxPrefix}.>`, { callback: (_error, { subject }) => void answers.push(subject) });
      for (const reply of [`${shown.inboxPrefix}.>`, `${shown.inboxPrefix}.*`, `${newInbox()}.a`]) {
        client.publish(whoAmI, '', { reply });
      }
      for (let i = 0; i < 50; i++) client.publish(whoAmI, '', { reply: `${shown.inboxPrefix}.a` });
      await client.flush();
      await vi.waitUntil(() => answers.length >= 4 && heard.length >= 1, soon);
      await backend.flush();
      await client.flush();
      expect(answers).toHaveLength(4);
      for (let i = 0; i < 1000; i++) client.publish(whoAmI, '', { reply: `${shown.inboxPrefix}.a` });
      await client.flush();
      const next = await raw(inOldForm('runtime', 'RTK-edge'));
      expect(await asked(next)).toMatchObject({ kind: 'runtime', runtime });
      expect(new Set(heard)).toEqual(new Set([`${victim.inboxPrefix}.told`]));
    });

    it('is refused in the log if the bus does not map its question', async () => {
      server = await startServer({ mapped: false });
      await openBackend();
      await expect(raw(inOldForm('runtime', 'RTK-edge'))).rejects.toThrow(/Authorization Violation/);
      expect(logged.join('')).toContain('refused a client of the previous version');
      const edge = await open(runtimeKey);
      expect(edge.identity.kind).toBe('runtime');
    });
  });
});

async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'nats-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  const started = await TestServer.start(folder, options);
  opened.push(() => started.stop());
  return started;
}

async function open(credentials: Credentials, nonce = newProcessId()): Promise<NatsBus> {
  const write = (line: string) => void logged.push(line);
  const logger = createLog({ service: 'test', level: 'info', destination: { write } })('bus');
  const bus = await connectNats({ servers: [server.url], caPath: null, persistent: true, credentials, nonce, logger });
  opened.push(() => bus.close());
  return bus;
}

async function openBackend(): Promise<NatsBus> {
  const bus = await open({ kind: 'backend', seeds: server.seeds });
  bus.authorize(authorizer);
  await bus.flush();
  return bus;
}

/** A client that speaks NATS without the bus's own client. */
async function raw(options: NodeConnectionOptions): Promise<NatsConnection> {
  const connection = await connect({ servers: server.url, reconnect: false, ...options });
  inboxes.set(connection, options.inboxPrefix ?? '');
  opened.push(() => connection.close());
  return connection;
}

/** Whether a client from this address may connect to read the reason of its refusal. */
async function askFrom(address: string, key = 'RTK-other'): Promise<boolean> {
  const { user, pass, name } = inThisForm('why runtime', key);
  const client = await WireClient.connect(server.port, { user, pass, name }, address).catch(() => null);
  if (client !== null) opened.push(async () => client.close());
  return client !== null;
}

const inboxes = new WeakMap<NatsConnection, string>();
const inboxOf = (connection: NatsConnection) => inboxes.get(connection) ?? expect.fail();

/** The login of the previous version: its process id and its inbox are its name. */
function inOldForm(user: string, pass: string, nonce = newProcessId()) {
  const inboxPrefix = newInbox();
  return { user, pass, name: `${nonce} ${inboxPrefix}`, inboxPrefix };
}

function inThisForm(user: string, pass: string, nonce = newProcessId()) {
  const inboxPrefix = newInbox();
  return { user, pass, name: connectionName(nonce, inboxPrefix), inboxPrefix };
}

/** How the previous version learns its name: from the user in NATS's answer. */
async function asked(connection: NatsConnection) {
  const answer = await connection.request(whoAmI, undefined, { timeout: 3000 });
  return JSON.parse(z.object({ data: z.object({ user: z.string() }) }).parse(answer.json()).data.user);
}

async function told(connection: NatsConnection) {
  return JSON.parse((await new OwnIntroduction(connection, inboxOf(connection)).name()) ?? '');
}

/** Whether NATS refuses the action of the connection. */
async function isRefused(connection: NatsConnection, act: () => void): Promise<boolean> {
  const errors: unknown[] = [];
  const stop = new AbortController();
  void (async () => {
    for await (const status of connection.status()) {
      if (stop.signal.aborted) return;
      if (status.type === 'error') errors.push(status.error);
    }
  })();
  act();
  await connection.flush();
  await connection.flush();
  stop.abort();
  return errors.length > 0;
}
