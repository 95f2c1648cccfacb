import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newId, newSessionId } from '../../contracts/ids.ts';
import { EventStream } from '../http/event-stream.ts';
import { nothingDisclosed } from './disclosure.ts';
import { Session } from './session.ts';
import { SessionStreams } from './session-streams.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: ['setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A stream of a session whose key expires, and what was written to it. */
function opened(expiresAt: number | null) {
  const names = { id: newSessionId(), key: newId('key'), workspace: newId('workspace') };
  const state = { protocol: '2025-11-25', logLevel: 'debug', disclosure: nothingDisclosed, seenAt: 0 } as const;
  const session = new Session(names, state, { revision: 1, epoch: 0 });
  const principal = {
    ...{ key: names.key, keyName: 'agent', user: newId('user'), workspace: names.workspace, workspaceName: 'acme' },
    ...{ suspended: false, roles: null, expiresAt },
  };
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: unknown[] = [];
  response.write = (chunk: unknown) => written.push(chunk) > 0;
  return { stream: new EventStream(response), session, principal, written };
}

test('a stream ends when its key has expired, and is kept alive until then', () => {
  const streams = new SessionStreams();
  streams.start();
  const short = opened(1_020_000);
  const long = opened(null);
  streams.add(short);
  streams.add(long);
  vi.advanceTimersByTime(15_000);
  expect([short.stream.isOpen, short.written, long.written]).toEqual([true, [': \n\n'], [': \n\n']]);
  vi.advanceTimersByTime(15_000);
  expect([short.stream.isOpen, long.stream.isOpen]).toEqual([false, true]);
  streams.stop();
  expect(long.stream.isOpen).toBe(false);
});
