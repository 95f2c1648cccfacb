import { once } from 'node:events';
import { createServer, IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newId, newSessionId } from '../../contracts/ids.ts';
import { listen } from '../../kit/http/listen.ts';
import { createLog } from '../../kit/log.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { Catalogues } from '../catalogue/catalogues.ts';
import { agentMemory } from '../http/agent-memory.ts';
import { EventStream } from '../http/event-stream.ts';
import { Exchange } from '../http/exchange.ts';
import { UnreadAnswers } from '../http/unread-answers.ts';
import { nothingDisclosed } from './disclosure.ts';
import { Session } from './session.ts';
import { SessionStreams } from './session-streams.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: ['setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } });
const alone = { onListening: () => undefined, tell: () => undefined };
const unread = new UnreadAnswers({ memory: agentMemory(), refusals: { write: () => undefined } });

/** A stream of a new session that records the written bytes. */
function opened({ expiresAt = null as number | null, key = newId('key') } = {}) {
  const names = { id: newSessionId(), key, workspace: newId('workspace') };
  const state = { protocol: '2025-11-25', logLevel: 'debug', disclosure: nothingDisclosed, seenAt: 0 } as const;
  const session = new Session(names, state, { revision: 1, epoch: 0 });
  const principal = {
    ...{ key: names.key, keyName: 'agent', user: newId('user'), workspace: names.workspace, workspaceName: 'acme' },
    ...{ suspended: false, roles: null, disclosure: 'skills' as const, expiresAt },
  };
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: unknown[] = [];
  response.write = (chunk: unknown) => written.push(chunk) > 0;
  return {
    stream: new EventStream(response, () => undefined),
    session,
    principal,
    authorization: undefined,
    written,
    close: () => response.emit('close'),
  };
}

test('a stream ends when its key has expired, and is kept alive until then', () => {
  const streams = new SessionStreams(alone);
  streams.start();
  const short = opened({ expiresAt: 1_020_000 });
  const long = opened();
  streams.add(short);
  streams.add(long);
  vi.advanceTimersByTime(15_000);
  expect([short.stream.isOpen, short.written, long.written]).toEqual([true, [': \n\n'], [': \n\n']]);
  vi.advanceTimersByTime(15_000);
  expect([short.stream.isOpen, long.stream.isOpen]).toEqual([false, true]);
  streams.stop();
  expect(long.stream.isOpen).toBe(false);
  expect(() => streams.checkRoom(long.principal)).toThrow('This remote-mcp is being stopped.');
});

test('one key has at most two thousand, and other keys have their own', () => {
  const streams = new SessionStreams(alone);
  const key = newId('key');
  const first = opened({ key });
  streams.add(first);
  for (let count = 1; count < 2000; count++) {
    streams.checkRoom(first.principal);
    streams.add(opened({ key }));
  }
  expect(() => streams.checkRoom(first.principal)).toThrow('This key may hold at most 2000 streams at once.');
  streams.checkRoom(opened().principal);
  first.close();
  streams.checkRoom(first.principal);
});

test('a stream whose client left before it opened is not kept', async () => {
  const streams = new SessionStreams(alone);
  const { session, principal } = opened();
  const tried = Promise.withResolvers<void>();
  const server = createServer(async (asked, response) => {
    const exchange = new Exchange(asked, response, { id: 'x', cors: [], unread, challenge: () => 'Bearer' });
    // Meanwhile remote-mcp looks up its key and its session.
    await once(response, 'close');
    streams.add({ stream: exchange.stream(), session, principal, authorization: undefined });
    tried.resolve();
  });
  const client = request(await listen(server, { host: '127.0.0.1', port: 0 }));
  client.on('error', () => undefined).end();
  await once(server, 'request');
  client.destroy();
  await tried.promise;
  expect(streams.has(session.id)).toBe(false);
  server.close();
});

test('an open stream keeps the catalogue of its workspace', async () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
  const empty = { mcpServers: [], skills: [], roles: [] };
  const maps = { toolsByName: new Map(), skillsById: new Map(), rolesById: new Map() };
  const { session, principal, ...listening } = opened();
  const { workspace } = session;
  const catalogue: Catalogue = {
    workspace,
    name: 'acme',
    suspended: false,
    version: 1,
    statusVersion: 1,
    ...empty,
    ...maps,
  };
  const catalogues = new Catalogues({
    pull: async () => ({ kind: 'changed', catalogue, etag: '1' }),
    onChange: () => undefined,
    log: log('catalogue'),
  });
  const streams = new SessionStreams({ ...alone, onListening: (of) => catalogues.keep(of) });
  catalogues.start();
  streams.start();
  streams.add({ ...listening, session, principal });
  await catalogues.of(workspace);
  vi.advanceTimersByTime(3_600_000);
  expect(catalogues.peek(workspace)).toBe(catalogue);
  listening.close();
  vi.advanceTimersByTime(3_600_000);
  expect(catalogues.peek(workspace)).toBeNull();
  streams.stop();
  await catalogues.stop();
});
