import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { connect as connectRaw, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { buckets, streams } from '../../../contracts/bus/subjects.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../log.ts';
import type { Authorizer, Bus, Credentials } from '../bus.ts';
import { openBusContent } from '../open-content.ts';
import { connectNats } from './connect.ts';
import { newInbox } from './login.ts';
import { SystemAccount } from './system-account.ts';
import { routeSecret, TestCluster } from './test/cluster.ts';
import { findNatsServer, type TestServer } from './test/server.ts';

/** Elections take seconds, one after the other. */
vi.setConfig({ testTimeout: 120_000 });

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const remoteMcp: Credentials = { kind: 'system', component: 'remote-mcp', key: new Secret('SYK-remote-mcp') };
const authorizer: Authorizer = async (_, process) => ({ kind: 'remote-mcp', process });
const soon = { timeout: 30_000, interval: 20 };
const sessions = { maxAgeMs: 3_600_000 };

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nats-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function startCluster(): Promise<TestCluster> {
  const cluster = await TestCluster.start(await newFolder());
  opened.push(() => cluster.stop());
  return cluster;
}

async function open(cluster: TestCluster, credentials: Credentials, nodes = cluster.nodes): Promise<Bus> {
  const servers = nodes.map(({ url }) => url);
  const bus = await connectNats({ servers, caPath: null, persistent: true, credentials, logger });
  opened.push(() => bus.close());
  return bus;
}

async function openBackend(cluster: TestCluster): Promise<Bus> {
  const backend = await open(cluster, { kind: 'backend', seeds: cluster.seeds });
  backend.authorize(authorizer);
  return backend;
}

const streamsAt = z.object({
  account_details: z.array(
    z.object({
      stream_detail: z
        .array(z.object({ name: z.string(), config: z.object({ num_replicas: z.number() }) }))
        .default([]),
    }),
  ),
});

/** How many nodes keep each stream, as this node reports it. */
async function replicasAt({ monitoringUrl }: TestServer): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`${monitoringUrl}/jsz?accounts=true&streams=true&config=true`);
  const { account_details: accounts } = streamsAt.parse(await answer.json());
  const kept = accounts.flatMap(({ stream_detail: all }) => all);
  return Object.fromEntries(kept.map(({ name, config }) => [name, config.num_replicas]));
}

describe.skipIf(findNatsServer() === null)('on three real servers', () => {
  it('a node dies: every request is answered, and no acknowledged write is lost', async () => {
    const cluster = await startCluster();
    const backend = await openBackend(cluster);
    const asker = await open(cluster, remoteMcp);
    const bucket = asker.bucket(buckets.sessions, sessions);
    const working = new AbortController();
    const appended: string[] = [];
    const refused: unknown[] = [];
    const kept = new Map<string, { revision: number; text: string }>();
    const workers = Array.from({ length: 4 }, async (_, worker) => {
      const key = `key-${worker}`;
      for (let i = 0; !working.signal.aborted; i++) {
        const text = `${worker}-${i}`;
        try {
          await asker.stream(streams.usage).append(Buffer.from(text));
          appended.push(text);
          const revision = await bucket.update(key, Buffer.from(text), kept.get(key)?.revision ?? 0);
          kept.set(key, { revision, text });
          expect(Buffer.from((await bucket.get(key))?.value ?? []).toString()).toBe(text);
        } catch (error) {
          refused.push(error);
          return;
        }
      }
    });
    for (const node of cluster.nodes) {
      await vi.waitUntil(() => appended.length > 20, soon);
      const before = appended.length;
      await node.stop('SIGKILL');
      // A client that connects meanwhile is admitted, and stored data is found.
      const late = await open(cluster, remoteMcp);
      expect(await late.bucket(buckets.sessions, sessions).get('key-0')).not.toBeNull();
      await vi.waitUntil(() => appended.length > before + 50 || refused.length > 0, soon);
      await node.start();
      await cluster.healthy(node);
    }
    working.abort();
    await Promise.all(workers);
    expect(refused).toEqual([]);
    const heard: string[] = [];
    backend.stream(streams.usage).consume('reader', async (batch) => {
      for (const record of batch) heard.push(Buffer.from(record).toString());
    });
    await vi.waitUntil(() => heard.length >= appended.length, soon);
    expect(heard.toSorted()).toEqual(appended.toSorted());
    for (const [key, { text }] of kept) expect(Buffer.from((await bucket.get(key))?.value ?? []).toString()).toBe(text);
  });

  it('all stored data is on three nodes, also data created or read while one of them is away', async () => {
    const cluster = await startCluster();
    await openBackend(cluster);
    const [first = expect.fail(), other = expect.fail()] = cluster.nodes;
    await first.stop('SIGKILL');
    const asker = await open(cluster, remoteMcp);
    await asker.bucket(buckets.sessions, sessions).put('a', Buffer.from('1'));
    await openBackend(cluster);
    // A node whose disk was lost gets everything from the others.
    await rm(first.storeDir, { recursive: true });
    await first.start();
    await cluster.healthy(first);
    const next = await open(cluster, remoteMcp);
    expect(await next.bucket(buckets.sessions, sessions).get('a')).not.toBeNull();
    const kept = { usage: 3, KV_sessions: 3 };
    for (const node of [first, other]) await vi.waitFor(async () => expect(await replicasAt(node)).toEqual(kept), soon);
  });

  it('clients at any node learn their identity from a backend at another node', async () => {
    const cluster = await startCluster();
    const [first = expect.fail(), ...others] = cluster.nodes;
    const backend = await open(cluster, { kind: 'backend', seeds: cluster.seeds }, [first]);
    backend.authorize(authorizer);
    const stranger: Authorizer = async () => {
      throw new SvcError('unauthenticated', 'This key is not known.');
    };
    for (const node of others) {
      const asker = await open(cluster, remoteMcp, [node]);
      expect(asker.identity.kind).toBe('remote-mcp');
      const states: string[] = [];
      asker.onConnection((state) => states.push(state));
      await node.stop('SIGKILL');
      await node.start();
      await vi.waitUntil(() => states.includes('connected'), soon);
      const inbox = newInbox();
      const shown = { user: 'remote-mcp', pass: 'SYK', name: `${newProcessId()} ${inbox}`, inboxPrefix: inbox };
      const old = await connectRaw({ servers: node.url, ...shown });
      opened.push(() => old.close());
      const answer = await old.request('$SYS.REQ.USER.INFO', undefined, { timeout: 3000 });
      expect(answer.string()).toContain('remote-mcp');
    }
    const refusing = backend.authorize(stranger);
    for (const node of others) {
      await expect(open(cluster, remoteMcp, [node])).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await refusing.stop();
  });

  it('connections are listed and ended at every node, or the call fails', async () => {
    const cluster = await startCluster();
    await openBackend(cluster);
    const states: string[] = [];
    for (const node of cluster.nodes) {
      const asker = await open(cluster, remoteMcp, [node]);
      asker.onConnection((state) => states.push(`${node.port} ${state}`));
    }
    const [first = expect.fail(), second = expect.fail()] = cluster.nodes;
    const authenticator = nkeyAuthenticator(Buffer.from(cluster.seeds.system.reveal()));
    const system = new SystemAccount(await connectRaw({ servers: [first.url], authenticator }), logger);
    opened.push(() => system.close());
    const isAsker = ({ kind }: Identity) => kind === 'remote-mcp';
    expect((await system.list()).filter(isAsker)).toHaveLength(3);
    await system.end(isAsker);
    const each = (state: string) => cluster.nodes.map(({ port }) => `${port} ${state}`).toSorted();
    await vi.waitUntil(() => states.filter((one) => one.endsWith(' connected')).length === 3, soon);
    expect(states.toSorted()).toEqual([...each('connected'), ...each('disconnected')].toSorted());
    await second.freeze();
    try {
      await expect(system.list()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(system.end(isAsker)).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      second.thaw();
    }
    // A stopped node has no connections.
    await second.stop('SIGKILL');
    await vi.waitFor(
      async () => expect(await system.list()).toContainEqual(expect.objectContaining({ kind: 'backend' })),
      soon,
    );
  });

  describe('that no test harms', () => {
    let cluster: TestCluster;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'nats-'));
      cluster = await TestCluster.start(folder);
    });
    afterAll(async () => {
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('imported content arrives in newly created streams, on whichever node', async () => {
      for (const { url } of cluster.nodes) {
        const place = { servers: [url], caPath: null, seeds: cluster.seeds, keyMaxAgeMs: sessions.maxAgeMs };
        const content = await openBusContent({ engine: 'nats', ...place });
        opened.push(() => content.close());
        for (const i of Array(4).keys()) {
          const stream = `records-${new URL(url).port}-${i}`;
          await content.addRecords(stream, Readable.from([{ payload: Buffer.from('a') }]));
          const expiresAt = Date.now() + sessions.maxAgeMs;
          await content.addEntries(stream, Readable.from([{ key: 'a', value: Buffer.from('a'), expiresAt }]));
        }
      }
    });

    it("a node without the cluster's secret is not admitted", async () => {
      const [route = expect.fail()] = cluster.routes;
      expect(await comeAsNode(route, 'node', 'a-guess')).toMatch(/Authorization Violation/);
      expect(await comeAsNode(route, '', '')).toMatch(/Authorization Violation/);
      expect(await comeAsNode(route, 'node', routeSecret)).toMatch(/^PONG/);
      for (const { monitoringUrl } of cluster.nodes) {
        for (const page of ['varz', 'routez', 'connz']) {
          expect(await (await fetch(`${monitoringUrl}/${page}`)).text()).not.toContain(routeSecret);
        }
      }
    });
  });
});

/** The answer of a node to a client that logs in as another node with this password. */
async function comeAsNode(address: string, user: string, pass: string): Promise<string> {
  const { hostname, port } = new URL(`nats://${address}`);
  const socket = connect({ host: hostname, port: Number(port) });
  const said = {
    verbose: false,
    pedantic: false,
    user,
    pass,
    name: 'stranger',
    server_name: 'stranger',
    cluster: 'svc',
  };
  socket.write(`CONNECT ${JSON.stringify(said)}\r\nPING\r\n`);
  try {
    for await (const line of createInterface({ input: socket })) if (/^(-ERR|PONG)/.test(line)) return line;
    return 'nothing';
  } finally {
    socket.destroy();
  }
}
