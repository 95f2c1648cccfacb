import { expect, test } from 'vitest';
import { type ServiceEvent, serviceStates, transition } from './transition.ts';

const events: readonly ServiceEvent[] = ['start', 'ready', 'not_ready', 'broke', 'given_up', 'lost', 'stop'];

test('the whole table', () => {
  const rows = serviceStates.map((state) => [state, ...events.map((event) => transition(state, event))]);
  expect(rows).toEqual([
    ['planned', 'starting', 'planned', 'planned', 'planned', 'planned', 'lost', 'stopped'],
    ['starting', 'starting', 'healthy', 'starting', 'restarting', 'failed', 'starting', 'stopped'],
    ['healthy', 'healthy', 'healthy', 'unhealthy', 'restarting', 'failed', 'healthy', 'stopped'],
    ['unhealthy', 'unhealthy', 'healthy', 'unhealthy', 'restarting', 'failed', 'unhealthy', 'stopped'],
    ['restarting', 'starting', 'restarting', 'restarting', 'restarting', 'failed', 'lost', 'stopped'],
    ['failed', 'starting', 'failed', 'failed', 'failed', 'failed', 'lost', 'stopped'],
    ['lost', 'starting', 'lost', 'lost', 'lost', 'lost', 'lost', 'stopped'],
    ['stopped', 'starting', 'stopped', 'stopped', 'stopped', 'stopped', 'lost', 'stopped'],
  ]);
});
