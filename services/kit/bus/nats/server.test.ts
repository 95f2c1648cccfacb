import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createUser, type KeyPair } from '@nats-io/nkeys';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { buckets, patterns, subjects } from '../../../contracts/bus/subjects.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { newId, newProcessId, newSessionId, type ProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../log.ts';
import { AnswererGone, type Authorizer, type BackendSeeds, type Bus, type Credentials, type Reply } from '../bus.ts';
import { connectNats } from './connect.ts';
import { findIdentity } from './connection-name.ts';
import { connectionName, newInbox } from './login.ts';
import type { NatsBus } from './nats-bus.ts';
import { OwnIntroduction } from './own-introduction.ts';
import { SystemAccount } from './system-account.ts';
import { findNatsServer, TestServer } from './test/server.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const remoteMcp: Credentials = { kind: 'system', component: 'remote-mcp', key: new Secret('SYK-remote-mcp') };
const runtimeKey: Credentials = { kind: 'runtime', key: new Secret('RTK-edge') };
const runtime = newId('runtime');
const none = { payload: Buffer.from(''), headers: {} };
const soon = { timeout: 15_000, interval: 20 };

/** The platform's keys, as the backend knows them. */
const authorizer: Authorizer = async (credentials, process) => {
  const key = credentials.kind === 'backend' ? '' : credentials.key.reveal();
  if (key === 'SYK-remote-mcp' && credentials.kind === 'system' && credentials.component === 'remote-mcp') {
    return { kind: 'remote-mcp', process };
  }
  if (key === 'RTK-edge' && credentials.kind === 'runtime')
    return { kind: 'runtime', process, runtime, name: 'edge', workspace: null };
  throw new SvcError('unauthenticated', 'This key was revoked on Monday.', { hint: 'Register the runtime again.' });
};

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function startServer(options: { readonly tls?: boolean } = {}, folder?: string): Promise<TestServer> {
  const own = folder ?? (await newFolder());
  const server = await TestServer.start(own, options);
  opened.push(() => server.stop());
  return server;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nats-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface How {
  readonly caPath?: string;
  readonly persistent?: boolean;
  readonly seeds?: BackendSeeds;
}

async function open(server: TestServer, credentials: Credentials, how: How = {}): Promise<NatsBus> {
  const { caPath = null, persistent = true } = how;
  const bus = await connectNats({ servers: [server.url], caPath, persistent, credentials, logger });
  opened.push(() => bus.close());
  return bus;
}

async function openBackend(server: TestServer, how: How = {}): Promise<NatsBus> {
  const bus = await open(server, { kind: 'backend', seeds: how.seeds ?? server.seeds }, how);
  bus.authorize(authorizer);
  return bus;
}

async function openSystemAccount({ url, seeds }: TestServer) {
  const authenticator = nkeyAuthenticator(Buffer.from(seeds.system.reveal()));
  const account = new SystemAccount(await connect({ servers: [url], authenticator }), logger);
  return Object.assign(account, { [Symbol.asyncDispose]: () => account.close() });
}

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  it.each(['callout', 'system', 'issuer'] as const)('a backend with another %s seed is refused', async (name) => {
    const server = await startServer();
    const other = name === 'issuer' ? createAccount() : createUser();
    const seeds = { ...server.seeds, [name]: seedOf(other) };
    const expectRefusal = () =>
      expect(openBackend(server, { seeds })).rejects.toMatchObject({
        code: 'unauthenticated',
        hint: expect.stringContaining(`BUS_${name.toUpperCase()}_SEED`),
      });
    // On a busy machine, NATS may leave a refused connection without an answer. A backend then starts again.
    await vi.waitFor(expectRefusal, soon);
    await openBackend(server);
  });

  it('a refused client gets the reason from the backend that refuses it', async () => {
    const server = await startServer();
    await openBackend(server);
    await expect(open(server, { kind: 'runtime', key: new Secret('RTK-other') })).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'This key was revoked on Monday.',
      hint: 'Register the runtime again.',
    });
  });

  it('a connection known from an advisory is ended before any server is asked for its list', async () => {
    const server = await startServer();
    await openBackend(server);
    await using system = await openSystemAccount(server);
    const authenticator = nkeyAuthenticator(Buffer.from(server.seeds.system.reveal()));
    const witness = await connect({ servers: [server.url], authenticator });
    const told: string[] = [];
    system.onConnected(({ process }) => void told.push(process));
    const asked: string[] = [];
    witness.subscribe('$SYS.REQ.SERVER.*.>', {
      callback: (_, { subject }) => void asked.push(subject.split('.').at(-1) ?? ''),
    });
    await witness.flush();
    const { process } = (await open(server, remoteMcp)).identity;
    await vi.waitUntil(() => told.includes(process), soon);
    await system.end((identity) => identity.process === process);
    await vi.waitUntil(() => asked.includes('CONNZ'), soon);
    await witness.close();
    expect(asked[0]).toBe('KICK');
  });

  it('a stopped backend answers nothing more, and the others continue their own work', async () => {
    const server = await startServer();
    const gone: string[] = [];
    const began: { readonly at: Bus; readonly end: (reply: Reply) => void }[] = [];
    const [first, second, third] = [await openBackend(server), await openBackend(server), await openBackend(server)];
    const asker = await open(server, remoteMcp);
    for (const backend of [second, third]) backend.onGone(({ process }) => void gone.push(process));
    for (const backend of [first, second]) {
      const work = (end: (reply: Reply) => void) => void began.push({ at: backend, end });
      backend.respond(patterns.key, () => new Promise(work), { queue: 'backend' });
      await backend.flush();
    }
    const question = () => asker.request(subjects.key(asker.identity.process), Buffer.from('?'), { timeoutMs: 60_000 });
    const asked: Promise<PromiseSettledResult<Reply>>[] = [];
    while (new Set(began.map(({ at }) => at)).size < 2) {
      const count = began.length;
      asked.push(Promise.allSettled([question()]).then(([settled]) => settled));
      await vi.waitUntil(() => began.length > count, soon);
    }
    const { process } = first.identity;
    await using system = await openSystemAccount(server);
    await system.end((identity) => identity.process === process);
    await vi.waitUntil(() => gone.length >= 2, soon);
    for (const { at, end } of began) if (at === second) end(none);
    const outcomes = await Promise.all(asked);
    const expected = began.map(({ at }) => (at === first ? 'AnswererGone' : 'answered'));
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? 'answered' : one.reason.constructor.name))).toEqual(
      expected,
    );
    // Each remaining backend was notified exactly once.
    expect(gone).toEqual([process, process]);
  });

  it('a backend that closes while the server ends waits for no answer', async () => {
    const server = await startServer();
    const backend = await openBackend(server);
    await server.freeze();
    const closing = backend.close();
    await server.stop('SIGKILL');
    const began = performance.now();
    await closing;
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it.each([
    ['no backend is connected', async (backend: NatsBus) => backend.close()],
    ['its connection was lost with that of the backend', async () => undefined],
  ])('a caller learns that its responder is gone, also when %s', async (_, before) => {
    const server = await startServer();
    const backend = await openBackend(server);
    const edge = await open(server, runtimeKey);
    const asker = await open(server, remoteMcp);
    const { process } = edge.identity;
    const begun = new Promise<void>((resolve) => {
      edge.respond(subjects.call(runtime, process), () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    await edge.flush();
    const asked = asker.request(subjects.call(runtime, process), Buffer.from('?'), { timeoutMs: 60_000 });
    const told = expect(asked).rejects.toBeInstanceOf(AnswererGone);
    await begun;
    await before(backend);
    await using system = await openSystemAccount(server);
    await system.end(({ kind }) => kind !== 'remote-mcp');
    const since = performance.now();
    await told;
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it('a bus that does not list its connections has not ended any, and ends them once it lists them', async () => {
    const server = await startServer();
    await openBackend(server);
    const edge = await open(server, runtimeKey);
    const states: string[] = [];
    edge.onConnection((state) => states.push(state));
    await using system = await openSystemAccount(server);
    const isEdge = ({ kind }: Identity) => kind === 'runtime';
    await server.freeze();
    const asked = Promise.allSettled([system.end(isEdge), system.list()]);
    try {
      expect(await asked).toEqual([
        expect.objectContaining({ reason: expect.objectContaining({ code: 'unavailable' }) }),
        expect.objectContaining({ reason: expect.objectContaining({ code: 'unavailable' }) }),
      ]);
      expect(states).toEqual([]);
    } finally {
      server.thaw();
    }
    await vi.waitUntil(() => states.includes('connected'), soon);
    expect(states).toEqual(['disconnected', 'connected']);
  });

  it('a caller keeps waiting while its responder works, however often it inquires', async () => {
    const server = await startServer();
    await openBackend(server);
    const edge = await open(server, runtimeKey);
    const asker = await open(server, remoteMcp);
    const subject = subjects.call(runtime, edge.identity.process);
    edge.respond(subject, async () => {
      await new Promise((resolve) => setTimeout(resolve, 3500));
      return none;
    });
    await edge.flush();
    await asker.request(subject, Buffer.from('?'), { timeoutMs: 60_000 });
  });

  it('a bus without persistence loses its content with the server, and works again', async () => {
    const server = await startServer();
    const backend = await openBackend(server, { persistent: false });
    const asker = await open(server, remoteMcp, { persistent: false });
    const sessions = asker.bucket(buckets.sessions, { maxAgeMs: 60_000 });
    const heard: string[] = [];
    // This uses up the memory that NATS may use: existing data must be found.
    await sessions.put('a', Buffer.from('1'));
    backend.stream('usage').consume('reader', async (batch) => {
      for (const record of batch) heard.push(Buffer.from(record).toString());
    });
    await asker.stream('usage').append(Buffer.from('before'));
    await vi.waitUntil(() => heard.length === 1, soon);
    const back = connected(asker);
    await server.stop('SIGKILL');
    await server.start();
    await back;
    expect(await sessions.get('a')).toBeNull();
    await sessions.put('a', Buffer.from('2'));
    expect(Buffer.from((await sessions.get('a'))?.value ?? '').toString()).toBe('2');
    await vi.waitUntil(
      () =>
        asker
          .stream('usage')
          .append(Buffer.from('after'))
          .then(
            () => true,
            () => false,
          ),
      soon,
    );
    await vi.waitUntil(() => heard.includes('after'), soon);
  });

  it('over TLS, whose authority must be known', async () => {
    const folder = await newFolder();
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const subject = ['-subj', '/CN=bus', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'bus.key'];
    openssl('req', '-x509', ...key, '-out', 'bus.pem', '-days', '30', ...subject);
    const server = await startServer({ tls: true }, folder);
    await expect(openBackend(server)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('certificate'),
    });
    const caPath = join(folder, 'bus.pem');
    const backend = await openBackend(server, { caPath });
    backend.respond(patterns.handshake, async () => none);
    const edge = await open(server, runtimeKey, { caPath });
    const { identity } = edge;
    await edge.request(subjects.handshake(runtime, identity.process), Buffer.from(''), { timeoutMs: 5000 });
  });

  it('a client reconnects however often it is refused while the backend is away', async () => {
    const server = await startServer();
    const first = await openBackend(server);
    const edge = await open(server, runtimeKey);
    const states: string[] = [];
    edge.onConnection((state) => states.push(state));
    await first.close();
    await server.stop('SIGKILL');
    await server.start();
    // Twice NATS's timeout for an answer: more refusals than the NATS client tolerates by itself.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(states).toEqual(['disconnected']);
    const back = connected(edge);
    await openBackend(server);
    await back;
    expect(states).toEqual(['disconnected', 'connected']);
  });

  it('a key that was revoked while the bus was away is refused when it is back', async () => {
    const server = await startServer();
    const backend = await openBackend(server);
    const edge = await open(server, runtimeKey);
    const states: string[] = [];
    edge.onConnection((state) => states.push(state));
    await server.stop('SIGKILL');
    let refused = 0;
    const revoking = backend.authorize(async (credentials, process) => {
      if (credentials.kind === 'runtime') refused++;
      return authorizer({ ...credentials, key: new Secret('revoked') } as Credentials, process);
    });
    await server.start();
    await vi.waitUntil(() => refused > 1, soon);
    expect(states).toEqual(['disconnected']);
    await revoking.stop();
  });
});

describe.skipIf(findNatsServer() === null)('on a real server, by hand', () => {
  /** The possibilities of a thief with a key, who speaks NATS without the bus's own client. */
  async function raw(server: TestServer, user: string, pass: string, inbox = newInbox()): Promise<NatsConnection> {
    const name = connectionName(newProcessId(), inbox);
    const connection = await connect({ servers: server.url, user, pass, name, inboxPrefix: inbox, reconnect: false });
    opened.push(() => connection.close());
    return connection;
  }

  /** Whether NATS lets it subscribe to the pattern. */
  async function hears(connection: NatsConnection, pattern: string): Promise<boolean> {
    let refused = false;
    connection.subscribe(pattern, {
      callback: (error) => {
        refused ||= error !== null;
      },
    });
    await connection.flush();
    await connection.flush();
    return !refused;
  }

  /** Whether NATS lets it publish on the subject. */
  async function says(connection: NatsConnection, subject: string): Promise<boolean> {
    const errors: unknown[] = [];
    void (async () => {
      for await (const status of connection.status()) if (status.type === 'error') errors.push(status.error);
    })();
    connection.publish(subject, 'x');
    await connection.flush();
    await connection.flush();
    return errors.length === 0;
  }

  it("a runtime's key reads and answers nothing of another runtime, sees no session, and subscribes to no wide pattern", async () => {
    const server = await startServer();
    await openBackend(server);
    const thief = await raw(server, 'runtime', 'RTK-edge');
    const [other, process] = [newId('runtime'), newProcessId()];
    for (const pattern of [
      ...['>', 'svc.>', '_R.>', '_C.>', '_I.>', '_G.>', '$JS.>', '$KV.>', '$SYS.>', '*', '*.*.*.*'],
      ...[subjects.call(other, process), subjects.command(other, process), `svc.runtime.${runtime}.${process}.call`],
      ...[patterns.heartbeat, patterns.report, patterns.gone, patterns.events, patterns.handshake, patterns.key],
      ...[subjects.session(newSessionId()), 'svc.session.*', '$KV.sessions.>', `_R.${other}-${process}.*.*`],
      ...[`_C.${other}-${process}.*.*`, 'svc.stream.usage', `_R.remote-mcp-${process}.>`, `${newInbox()}.>`],
    ]) {
      expect(await hears(thief, pattern), pattern).toBe(false);
    }
    for (const subject of [
      ...[subjects.call(other, process), subjects.heartbeat(other, process), subjects.report(other, process)],
      ...[subjects.handshake(other, process), subjects.hello(process), subjects.key(process)],
      ...[subjects.gone(other, process), subjects.session(newSessionId()), subjects.event(newId('workspace'), 'key')],
      ...[`_R.remote-mcp-${process}.${other}-${process}.1`, `_R.remote-mcp-${process}.backend.1`],
      ...[`_C.${other}-${process}.remote-mcp-${process}.1`, `_G.runtime.${other}-${process}`],
      ...['$JS.API.STREAM.NAMES', '$JS.API.STREAM.MSG.GET.KV_sessions', '$KV.sessions.a', 'svc.stream.usage'],
      ...['$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.USER.AUTH'],
    ]) {
      expect(await says(thief, subject), subject).toBe(false);
    }
  });

  it('a missing refusal would be noticed here', async () => {
    const server = await startServer();
    await openBackend(server);
    const inbox = newInbox();
    const own = await raw(server, 'runtime', 'RTK-edge', inbox);
    expect(await hears(own, `${inbox}.>`)).toBe(true);
    expect(await says(own, subjects.heartbeat(runtime, await processOf(own, inbox)))).toBe(true);
    expect(await hears(own, 'svc.anything')).toBe(false);
  });

  it("remote-mcp's system key makes no client a runtime or a backend, and reads no configuration", async () => {
    const server = await startServer();
    const backend = await openBackend(server);
    backend.respond(patterns.handshake, async () => none);
    for (const user of ['runtime', 'runtime cloud', 'backend', 'callout', '']) {
      await expect(raw(server, user, 'SYK-remote-mcp'), user).rejects.toThrow(/Authorization Violation/);
    }
    const thief = await raw(server, 'remote-mcp', 'SYK-remote-mcp');
    const process = newProcessId();
    expect(await says(thief, subjects.handshake(runtime, process))).toBe(false);
    expect(await says(thief, subjects.command(runtime, process))).toBe(false);
    for (const pattern of [`_R.${runtime}-${process}.*.*`, patterns.handshake, subjects.call(runtime, process), '>']) {
      expect(await hears(thief, pattern), pattern).toBe(false);
    }
  });

  it("a reply cannot be requested in another client's name", async () => {
    const server = await startServer();
    const backend = await openBackend(server);
    const asked: string[] = [];
    backend.respond(patterns.handshake, async ({ subject }) => {
      asked.push(subject);
      return none;
    });
    const inbox = newInbox();
    const name = connectionName(newProcessId(), inbox);
    const thief = await connect({ servers: server.url, user: 'runtime', pass: 'RTK-edge', name, inboxPrefix: inbox });
    opened.push(() => thief.close());
    const process = await processOf(thief, inbox);
    const subject = subjects.handshake(runtime, process);
    const { headers } = await import('@nats-io/transport-node');
    const question = headers();
    question.set('Svc-Frame', 'question');
    for (const reply of [`_R.remote-mcp-${newProcessId()}.backend.1`, `${inbox}.1`, 'svc.event.a.key', '_R.a.b']) {
      thief.publish(subject, '', { reply, headers: question });
    }
    await thief.flush();
    thief.publish(subject, '', { reply: `_R.${runtime}-${process}.backend.1`, headers: question });
    await vi.waitUntil(() => asked.length > 0, soon);
    expect(asked).toEqual([subject]);
  });

  it('a client without a credential, or with a fake one, is refused', async () => {
    const server = await startServer();
    await openBackend(server);
    for (const [user, pass] of [
      ...[
        ['', ''],
        ['runtime', ''],
        ['runtime', 'RTK-other'],
        ['admin', 'RTK-edge'],
        ['why runtime x', ''],
      ],
      ...[
        ['backend', `${Date.now()}.forged`],
        ['backend', 'x'],
        ['callout', 'x'],
        ['alone', 'x'],
        ['remote-mcp', 'RTK-edge'],
      ],
    ]) {
      await expect(raw(server, user ?? '', pass ?? ''), `${user} ${pass}`).rejects.toThrow(/Authorization Violation/);
    }
    const asking = await raw(server, 'why runtime', 'RTK-other');
    expect(await hears(asking, 'svc.anything')).toBe(false);
    expect(await says(asking, subjects.heartbeat(runtime, newProcessId()))).toBe(false);
  });
});

/** The process id that the backend sends a client. */
async function processOf(connection: NatsConnection, inbox: string): Promise<ProcessId> {
  const identity = findIdentity((await new OwnIntroduction(connection, inbox).name()) ?? '');
  return identity?.process ?? expect.fail();
}

function seedOf(key: KeyPair): Secret {
  return new Secret(Buffer.from(key.getSeed()).toString());
}

function connected(bus: Bus): Promise<void> {
  return new Promise((resolve) => bus.onConnection((state) => state === 'connected' && resolve()));
}
