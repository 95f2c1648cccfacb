import { describe, expect, test } from 'vitest';
import {
  type Event,
  healthOf,
  initialState,
  type Ping,
  reasonOf,
  type State,
  statusOf,
  transition,
} from './mcp-server-state.ts';

const reason = { code: 'exited', message: 'It ended.', repair: 'Start it.' };
const failed: Event = { kind: 'failed', reason };

function after(...events: readonly Event[]): State {
  return events.reduce((state, event) => transition(state, event, { now: 1000, random: 0 }), initialState);
}

const shown = (state: State) => [state.phase, statusOf(state), healthOf(state), reasonOf(state)?.code ?? null];

describe('the table', () => {
  test.each<[string, readonly Event[], readonly (string | null)[]]>([
    ['assigned', [], ['waiting', 'Disconnected', 'red', 'starting']],
    ['its turn', [{ kind: 'start' }], ['starting', 'Disconnected', 'red', 'starting']],
    ['connected', [{ kind: 'start' }, { kind: 'connected' }], ['connected', 'Connected', 'green', null]],
    ['failed to start', [{ kind: 'start' }, failed], ['failed', 'Error', 'red', 'exited']],
    ['crashed', [{ kind: 'start' }, { kind: 'connected' }, failed], ['failed', 'Error', 'red', 'exited']],
    ['tried again', [{ kind: 'start' }, failed, { kind: 'retry' }], ['waiting', 'Error', 'red', 'exited']],
    [
      'started again',
      [{ kind: 'start' }, failed, { kind: 'retry' }, { kind: 'start' }],
      ['starting', 'Error', 'red', 'exited'],
    ],
    [
      'back',
      [{ kind: 'start' }, failed, { kind: 'retry' }, { kind: 'start' }, { kind: 'connected' }],
      ['connected', 'Connected', 'yellow', 'restarted'],
    ],
    [
      'stable again',
      [{ kind: 'start' }, failed, { kind: 'retry' }, { kind: 'start' }, { kind: 'connected' }, { kind: 'settled' }],
      ['connected', 'Connected', 'green', null],
    ],
    ['refused', [{ kind: 'refused', reason }], ['refused', 'Error', 'red', 'exited']],
    [
      'allowed again',
      [{ kind: 'refused', reason }, { kind: 'replaced' }],
      ['waiting', 'Disconnected', 'red', 'starting'],
    ],
    ['stopped', [{ kind: 'start' }, { kind: 'connected' }, { kind: 'stop' }], ['stopped', 'Disconnected', 'red', null]],
    ['replaced', [{ kind: 'start' }, failed, { kind: 'replaced' }], ['waiting', 'Disconnected', 'red', 'starting']],
  ])('%s', (_name, events, expected) => {
    expect(shown(after(...events))).toEqual(expected);
  });
});

describe('pings', () => {
  const connected = after({ kind: 'start' }, { kind: 'connected' });
  const ping = (state: State, outcome: Ping['outcome'], { inFlight = 1, silentForMs = 0, busyMaxMs = 60_000 } = {}) =>
    transition(state, { kind: 'ping', outcome, inFlight, silentForMs, busyMaxMs }, { now: 0, random: 0 });

  test('a slow and a missing answer are yellow until a prompt one', () => {
    expect(shown(ping(connected, 'slow')).slice(2)).toEqual(['yellow', 'slow']);
    expect(shown(ping(connected, 'none')).slice(2)).toEqual(['yellow', 'not_answering']);
    expect(shown(ping(ping(ping(connected, 'none'), 'slow'), 'prompt')).slice(2)).toEqual(['green', null]);
  });

  test('missing answers are counted in a row', () => {
    expect(ping(ping(connected, 'none'), 'none')).toMatchObject({ deafPings: 2 });
    expect(ping(ping(connected, 'none'), 'prompt')).toMatchObject({ deafPings: 0 });
  });

  const twiceDeaf = ping(ping(connected, 'none'), 'none');
  const down = ['failed', 'Error', 'red', 'not_answering'];
  const degraded = ['connected', 'Connected', 'yellow', 'not_answering'];

  test.each([
    ['it has nothing to do', { inFlight: 0, silentForMs: 45_000 }, down],
    ['it has calls that may keep it busy', { inFlight: 1, silentForMs: 60_000 }, degraded],
    ['its calls have a longer deadline', { inFlight: 1, silentForMs: 299_000, busyMaxMs: 300_000 }, degraded],
    ['no call can be the reason any more, however many are sent to it', { inFlight: 5, silentForMs: 60_001 }, down],
  ])('the third missing answer in a row while %s', (_name, at, expected) => {
    expect(shown(ping(twiceDeaf, 'none', at))).toEqual(expected);
  });

  test('an answer in between restarts the count', () => {
    const answered = ping(ping(twiceDeaf, 'prompt'), 'none', { inFlight: 0 });
    expect(shown(answered)).toEqual(degraded);
  });
});

test('a complaint is yellow until it is withdrawn', () => {
  const complaining = after({ kind: 'start' }, { kind: 'connected' }, { kind: 'complaint', reason });
  expect(shown(complaining).slice(2)).toEqual(['yellow', 'exited']);
  expect(healthOf(transition(complaining, { kind: 'complaint', reason: null }, { now: 0, random: 0 }))).toBe('green');
});

test('the delay doubles with each failure up to a minute, and is short again once it was stable', () => {
  const waits: number[] = [];
  let state = after({ kind: 'start' });
  for (let i = 0; i < 12; i++) {
    state = transition(state, failed, { now: 0, random: 0.999 });
    if (state.phase === 'failed') waits.push(state.retryAt);
    state = transition(
      transition(state, { kind: 'retry' }, { now: 0, random: 0 }),
      { kind: 'start' },
      { now: 0, random: 0 },
    );
  }
  expect(waits.slice(0, 4)).toEqual([250, 500, 1000, 1999]);
  expect(waits.at(-1)).toBeLessThanOrEqual(60_000);
  expect(waits.at(-1)).toBeGreaterThan(59_000);
  expect(state.restarts).toBe(12);
  for (const event of [{ kind: 'connected' }, { kind: 'settled' }, failed] satisfies Event[]) {
    state = transition(state, event, { now: 0, random: 0 });
  }
  expect(state).toMatchObject({ phase: 'failed', retryAt: 125 });
});

test('events of an earlier phase change nothing', () => {
  const stopped = after({ kind: 'start' }, { kind: 'stop' });
  for (const event of [{ kind: 'connected' }, failed, { kind: 'retry' }, { kind: 'start' }] satisfies Event[]) {
    expect(transition(stopped, event, { now: 0, random: 0 })).toBe(stopped);
  }
});
