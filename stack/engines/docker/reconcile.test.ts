import type { ContainerInspectInfo } from 'dockerode';
import { expect, test } from 'vitest';
import { labels } from './names.ts';
import { foreignVolumes, stepOf } from './reconcile.ts';
import { containerOf, plannedFrom } from './test/planned.ts';

const planned = containerOf(plannedFrom(), 'frontend');
const running = { Running: true, Paused: false, Restarting: false };
/** The container as Docker describes it. */
const asPlanned = { Config: { Labels: planned.options.Labels }, State: running };

test.each([
  { what: 'runs as planned', found: asPlanned, step: ['keep', null] },
  { what: 'is new', found: undefined, ran: false, step: ['make', null] },
  { what: 'ran before and is missing', found: undefined, step: ['make', 'was removed'] },
  {
    what: 'differs from svc.yaml',
    found: { ...asPlanned, Config: { Labels: { [labels.hash]: 'other' } } },
    step: ['make', null],
  },
  {
    what: 'was stopped',
    found: { ...asPlanned, State: { ...running, Running: false } },
    step: ['make', 'was stopped'],
  },
  { what: 'was paused', found: { ...asPlanned, State: { ...running, Paused: true } }, step: ['make', 'was paused'] },
  {
    what: 'kept ending',
    found: { ...asPlanned, State: { ...running, Restarting: true } },
    step: ['make', 'kept ending'],
  },
])('a container that $what: $step', ({ found, ran = true, step }) => {
  const { kind, why } = stepOf(planned, found as ContainerInspectInfo | undefined, ran);
  expect([kind, why]).toEqual(step);
});

test.each([
  { user: '1000:1000', there: ['nats', 'backend'], handedOver: ['runtime'] },
  { user: '1000:1000', there: ['nats'], handedOver: ['backend', 'runtime'] },
  { user: '1001:1001', there: ['nats', 'backend'], handedOver: ['nats', 'backend', 'runtime'] },
])('only volumes that are new, or that another user had, are handed over: %o', ({ user, there, handedOver }) => {
  const before = { user: '1000:1000', volumes: ['nats', 'backend'] };
  const wanted = ['nats', 'backend', 'runtime'];
  expect(foreignVolumes(wanted, { before, there: new Set(there), user })).toEqual(handedOver);
  expect(foreignVolumes(wanted, { before: null, there: new Set(there), user })).toEqual(wanted);
});
