import type { ContainerInspectInfo } from 'dockerode';
import { describe, expect, test } from 'vitest';
import type { ContainerPlan } from './container-plan.ts';
import { labels } from './names.ts';
import { foreignVolumes, stepOf } from './reconcile.ts';
import { plannedFrom } from './test/planned.ts';

const containers = plannedFrom();
const running = { Running: true, Paused: false, Restarting: false };
const all = new Set(containers.map(({ part }) => part.name));

type Found = Map<string, ContainerInspectInfo>;

/** A container that was made as planned, as Docker describes it. */
function madeAsPlanned({ options: { Labels } }: ContainerPlan): ContainerInspectInfo {
  return { Config: { Labels }, State: running } as ContainerInspectInfo;
}

/** The steps that change something. */
function changes(change: (present: Found) => void = () => undefined, known: ReadonlySet<string> = all) {
  const present = new Map(containers.map((container) => [container.options.name, madeAsPlanned(container)]));
  change(present);
  return containers.flatMap((container) => {
    const { name } = container.part;
    const { kind, why } = stepOf(container, present.get(container.options.name), known.has(name));
    return kind === 'keep' ? [] : [`${name} ${why ?? 'differs from svc.yaml'}`];
  });
}

const nameOf = (part: string) => `svc-abcdef0123456789-${part}`;
const having = (part: string, changed: object) => (present: Found) =>
  void present.set(nameOf(part), { ...present.get(nameOf(part)), ...changed } as ContainerInspectInfo);

describe('a container', () => {
  test('stays while it runs as planned', () => {
    expect(changes()).toEqual([]);
  });

  test('is made where it is missing, with a reason if it ran before', () => {
    const without = (present: Found) => void present.delete(nameOf('nats'));
    expect(changes(without)).toEqual(['nats was removed']);
    expect(changes(without, new Set())).toEqual(['nats differs from svc.yaml']);
  });

  test.each([
    ['differs from svc.yaml', { Config: { Labels: { [labels.hash]: 'other' } } }],
    ['was stopped', { State: { ...running, Running: false } }],
    ['was paused', { State: { ...running, Paused: true } }],
    ['kept ending', { State: { ...running, Restarting: true } }],
  ])('is replaced where it %s', (why, changed) => {
    expect(changes(having('frontend', changed))).toEqual([`frontend ${why}`]);
  });
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
