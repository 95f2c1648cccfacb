import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newId, newProcessId, newSessionId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Bucket, Bus, Entry, Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { createLog } from '../../kit/log.ts';
import { until } from '../test/platform.ts';
import { nothingDisclosed, withSkill } from './disclosure.ts';
import type { Session } from './session.ts';
import { Sessions } from './sessions.ts';

const principal = {
  ...{ key: newId('key'), keyName: 'agent', user: newId('user') },
  ...{
    workspace: newId('workspace'),
    workspaceName: 'acme',
    suspended: false,
    roles: null,
    disclosure: 'skills' as const,
    expiresAt: null,
  },
};
const fresh = { protocol: '2025-11-25', logLevel: 'debug', disclosure: nothingDisclosed } as const;
const idleTimeoutMs = 1600;

let hub: Hub;
let bus: Bus;

beforeEach(async () => {
  hub = await startHub({ file: null });
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  backend.authorize(async (_credentials, process) => ({ kind: 'remote-mcp', process }));
  bus = await hub.connect({ kind: 'system', component: 'remote-mcp', key: newKey('system') }, newProcessId());
});
afterEach(async () => {
  vi.useRealTimers();
  await hub.stop();
});

/** The bus's own bucket, whose answers the test can hold back, and the number of unfinished writes. */
function slow(bucket: Bucket) {
  const held: (() => void)[] = [];
  const state = { isHeld: false, writes: 0 };
  const get = async (key: string): Promise<Entry | null> => {
    const entry = await bucket.get(key);
    if (state.isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return entry;
  };
  const update: Bucket['update'] = async (...write) => {
    state.writes++;
    try {
      return await bucket.update(...write);
    } finally {
      state.writes--;
    }
  };
  const own: Bucket = { ...rest(bucket), get, update };
  return { own, state, held };
}

function rest(bucket: Bucket): Omit<Bucket, 'get' | 'update'> {
  return {
    put: (key, value) => bucket.put(key, value),
    delete: (key) => bucket.delete(key),
  };
}

/** Sessions as one remote-mcp holds them. */
function holder({ isListening = false, maxAgeMs = idleTimeoutMs } = {}) {
  const bucket = slow(bus.bucket('sessions', { maxAgeMs }));
  const ownBus: Bus = Object.assign(Object.create(bus), { bucket: () => bucket.own });
  const sessions = new Sessions({
    link: { connected: async () => ({ bus: ownBus, process: newProcessId() }) },
    messages: { tell: () => undefined },
    idleTimeoutMs,
    isListening: () => isListening,
    onDrop: () => undefined,
    log: createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('sessions'),
  });
  return { sessions, ...bucket };
}

const skill = newId('skill');
const load = (sessions: Sessions, session: Session) =>
  sessions.change(session, (present) => ({ ...present, disclosure: withSkill(present.disclosure, skill) }));

describe('renewal', () => {
  const fakeTime = () =>
    vi.useFakeTimers({ now: 1_000_000, toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
  const sweepMs = idleTimeoutMs / 16;

  /** Advances the clock of the sessions. Sent messages arrive on the bus before that. */
  async function pass(ms: number, holders: readonly ReturnType<typeof holder>[]) {
    for (let passed = 0; passed < ms; passed += sweepMs) {
      vi.advanceTimersByTime(sweepMs);
      await until(() => holders.every(({ state }) => state.writes === 0));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test('keeps the record of every session in use alive, however many there are', async () => {
    fakeTime();
    const one = holder({ isListening: true });
    one.sessions.start();
    const unused = newSessionId();
    await one.own.put(unused, Buffer.from('{}'));
    const open = await Promise.all(Array.from({ length: 1000 }, () => one.sessions.open(principal, fresh)));
    await pass(idleTimeoutMs * 2, [one]);
    // The bucket no longer has a record that was written longer ago than the idle timeout.
    const found = await Promise.all(open.map(({ id }) => one.own.get(id)));
    expect(found.filter((entry) => entry !== null)).toHaveLength(1000);
    expect(await one.own.get(unused)).toBeNull();
    await one.sessions.stop();
  });

  test('continues after another remote-mcp has changed the session', async () => {
    fakeTime();
    const [listening, other] = [holder({ isListening: true }), holder()];
    listening.sessions.start();
    const { id } = await listening.sessions.open(principal, fresh);
    const elsewhere = await other.sessions.find(id, principal.key);
    if (elsewhere === null) throw new Error('not found');
    await load(other.sessions, elsewhere);
    await pass(idleTimeoutMs * 2, [listening]);
    expect(await listening.own.get(id)).not.toBeNull();
    expect(listening.sessions.peek(id)?.disclosure.skills).toEqual([skill]);
    await listening.sessions.stop();
  });

  test('begins at once if another remote-mcp finds a session with an old record', async () => {
    fakeTime();
    const [opener, finder] = [holder(), holder()];
    const { id } = await opener.sessions.open(principal, fresh);
    await pass((idleTimeoutMs * 7) / 8 - sweepMs, [opener]);
    finder.sessions.start();
    expect(await finder.sessions.find(id, principal.key)).not.toBeNull();
    await pass(idleTimeoutMs / 2, [finder]);
    expect(await finder.own.get(id)).not.toBeNull();
    await finder.sessions.stop();
  });

  test('does not happen for an unused session: the session ends', async () => {
    fakeTime();
    const one = holder();
    one.sessions.start();
    const { id } = await one.sessions.open(principal, fresh);
    await pass(idleTimeoutMs + sweepMs, [one]);
    expect([one.sessions.peek(id), await one.sessions.find(id, principal.key)]).toEqual([null, null]);
    await one.sessions.stop();
  });
});

describe('a read that ends late', () => {
  /** A session whose record is being read. */
  async function reading(isHere: boolean) {
    const opener = holder();
    const session = await opener.sessions.open(principal, fresh);
    const here = isHere ? opener : holder();
    if (isHere) here.sessions.reconnected();
    here.state.isHeld = true;
    const found = Promise.resolve(here.sessions.find(session.id, principal.key));
    await until(() => here.held.length === 1);
    here.state.isHeld = false;
    const finish = () => {
      here.held.pop()?.();
      return found;
    };
    return { here, session, finish };
  }

  test('does not undo a later write', async () => {
    const { here, session, finish } = await reading(true);
    expect(await here.sessions.find(session.id, principal.key)).toBe(session);
    await load(here.sessions, session);
    const { revision } = session;
    expect(await finish()).toBe(session);
    expect([session.disclosure.skills, session.revision]).toEqual([[skill], revision]);
  });

  test.each([true, false])('finds no session that ended meanwhile (held here before: %s)', async (isHere) => {
    const { here, session, finish } = await reading(isHere);
    here.sessions.endHere(session.id);
    expect(await finish()).toBeNull();
    expect(here.sessions.peek(session.id)).toBeNull();
  });

  test('finds no session that another read found gone', async () => {
    const { here, session, finish } = await reading(false);
    await here.own.delete(session.id);
    expect(await here.sessions.find(session.id, principal.key)).toBeNull();
    expect(await finish()).toBeNull();
    expect(here.sessions.peek(session.id)).toBeNull();
  });

  test('is followed by another read if the record was changed meanwhile', async () => {
    const { here, session, finish } = await reading(false);
    const other = holder();
    const elsewhere = await other.sessions.find(session.id, principal.key);
    if (elsewhere === null) throw new Error('not found');
    await load(other.sessions, elsewhere);
    here.sessions.changedElsewhere(session.id);
    expect((await finish())?.disclosure.skills).toEqual([]);
    expect((await here.sessions.find(session.id, principal.key))?.disclosure.skills).toEqual([skill]);
  });
});

test('a key that opens all its sessions at once gets no more than in sequence', async () => {
  const { sessions } = holder();
  const opened = await Promise.allSettled(Array.from({ length: 20_500 }, () => sessions.open(principal, fresh)));
  const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toHaveLength(500);
  expect(refused[0]).toMatchObject({ code: 'rate_limited' });
  const other = await sessions.open({ ...principal, key: newId('key') }, fresh);
  for (const one of opened.slice(0, 3)) if (one.status === 'fulfilled') await sessions.end(one.value);
  await sessions.open(principal, fresh);
  await sessions.end(other);
});
