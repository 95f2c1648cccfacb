import { describe, expect, test } from 'vitest';
import type { ContainerPlan } from './container-plan.ts';
import { labels } from './names.ts';
import { type ExistingContainer, type ReconcileInput, reconcile } from './reconcile.ts';
import { plannedFrom } from './test/planned.ts';

const plan = plannedFrom();
const network = 'svc-abcdef0123456789';
const idOf = (name: string) => `id of ${name}`;
const networkIds = Object.fromEntries(plan.networks.map(({ Name }) => [Name, idOf(Name)]));
const running = { Running: true, Paused: false, Restarting: false };

/** A container that was made as planned, as Docker describes it. Its image has one environment variable. */
function madeAsPlanned({ options, image, networks }: ContainerPlan): ExistingContainer {
  const { HostConfig, Labels, User, Env = [], Entrypoint, Healthcheck } = options;
  const found = {
    Id: options.name,
    Image: `id of ${image}`,
    Config: { Image: image, User, Env: ['PATH=/bin', ...Env], Entrypoint, Cmd: null, Healthcheck, Labels },
    HostConfig: {
      ...HostConfig,
      CapAdd: HostConfig?.CapAdd?.length === 0 ? null : HostConfig?.CapAdd,
      Privileged: false,
    },
    NetworkSettings: { Networks: Object.fromEntries(networks.map((name) => [name, { NetworkID: idOf(name) }])) },
    State: running,
  };
  return structuredClone(found) as unknown as ExistingContainer;
}

function situation(
  change: (present: Map<string, ExistingContainer>) => void = () => undefined,
  rest: Partial<ReconcileInput> = {},
): ReconcileInput {
  const present = new Map(plan.containers.map((container) => [container.options.name, madeAsPlanned(container)]));
  change(present);
  const imageEnv = Object.fromEntries(plan.containers.map(({ image }) => [image, ['PATH=/bin']]));
  const known = new Set(plan.containers.map(({ part }) => part.name));
  return { present, known, networkIds, imageEnv, isGiven: () => true, ...rest };
}

/** The steps that change something. */
function told(seen: ReconcileInput) {
  return reconcile(plan, seen).flatMap((step) =>
    step.kind === 'keep' ? [] : [`${step.container.part.name} ${step.kind}: ${step.why ?? 'svc.yaml'}`],
  );
}

const nameOf = (part: string) => `${network}-${part}`;
/** Changes one property of a container, found by its path. */
const changed = (part: string, way: readonly string[], value: unknown) => (present: Map<string, ExistingContainer>) => {
  let at = present.get(nameOf(part)) as unknown as Record<string, unknown>;
  for (const name of way.slice(0, -1)) at = at[name] as Record<string, unknown>;
  at[way.at(-1) ?? ''] = value;
};

describe('what is there', () => {
  test('is kept where it is as planned', () => {
    expect(told(situation())).toEqual([]);
  });

  test('is made where it is missing, and told where it was there before', () => {
    const without = (present: Map<string, ExistingContainer>) => void present.delete(nameOf('nats'));
    expect(told(situation(without))).toEqual(['nats make: was removed']);
    expect(told(situation(without, { known: new Set() }))).toEqual(['nats make: svc.yaml']);
  });

  test('is started or let go on where somebody stopped it', () => {
    const stopped = changed('frontend', ['State'], { ...running, Running: false });
    expect(told(situation(stopped))).toEqual(['frontend start: was stopped']);
    const paused = changed('frontend', ['State'], { ...running, Paused: true });
    expect(told(situation(paused))).toEqual(['frontend unpause: was paused']);
    const looping = changed('frontend', ['State'], { ...running, Restarting: true });
    expect(told(situation(looping))).toEqual(['frontend make: kept ending']);
  });

  test('is made anew where svc.yaml says something else', () => {
    expect(told(situation(changed('backend', ['Config', 'Labels', labels.hash], 'other')))).toEqual([
      'backend make: svc.yaml',
    ]);
  });

  test('is made anew where it is not ours', () => {
    expect(told(situation(changed('backend', ['Config', 'Labels'], {})))).toEqual([
      'backend make: was replaced by a foreign container',
    ]);
  });

  const byHand: readonly (readonly [what: string, way: readonly string[], value: unknown])[] = [
    ['image', ['Config', 'Image'], 'evil:1.0'],
    ['user', ['Config', 'User'], '0:0'],
    ['command', ['Config', 'Cmd'], ['--inspect']],
    ['environment', ['Config', 'Env'], ['PATH=/bin']],
    ['health check', ['Config', 'Healthcheck'], { Test: ['NONE'] }],
    ['files and volumes', ['HostConfig', 'Binds'], ['/:/host']],
    ['networks', ['NetworkSettings', 'Networks'], { [network]: {}, bridge: {} }],
    ['ports', ['HostConfig', 'PortBindings'], { '3000/tcp': [{ HostIp: '0.0.0.0', HostPort: '3000' }] }],
    ['restart policy', ['HostConfig', 'RestartPolicy', 'Name'], 'no'],
    ['root file system', ['HostConfig', 'ReadonlyRootfs'], false],
    ['temporary folder', ['HostConfig', 'Tmpfs'], {}],
    ['privileges', ['HostConfig', 'CapAdd'], ['SYS_ADMIN']],
    ['privileges', ['HostConfig', 'Privileged'], true],
    ['limit of memory', ['HostConfig', 'Memory'], 1],
    ['limit of processes', ['HostConfig', 'PidsLimit'], 0],
    ['limit of logs', ['HostConfig', 'LogConfig'], { Type: 'json-file', Config: {} }],
  ];
  test.each(byHand)('is made anew where its %s was changed by hand', (what, way, value) => {
    expect(told(situation(changed('backend', way, value)))).toEqual([`backend make: was changed (its ${what})`]);
  });

  test('is a peer of what takes its place where it runs and agrees with it', () => {
    const isPeer = (...changes: readonly ReturnType<typeof changed>[]) => {
      const differs = changed('nats', ['Config', 'Labels', labels.hash], 'other');
      const seen = situation((present) => [differs, ...changes].map((change) => change(present)));
      const [step] = reconcile(plan, seen);
      return step?.kind === 'make' && step.isPeer;
    };
    expect(isPeer()).toBe(true);
    expect(isPeer(changed('nats', ['Config', 'Labels', labels.peers], 'of other nodes'))).toBe(false);
    expect(isPeer(changed('nats', ['State'], { ...running, Running: false }))).toBe(false);
    expect(isPeer(changed('nats', ['State'], { ...running, Paused: true }))).toBe(false);
    expect(isPeer((present) => void present.delete(nameOf('nats')))).toBe(false);
  });

  test('is made anew where a variable was slipped in that the image does not bring', () => {
    const before = madeAsPlanned(plan.containers[0] as ContainerPlan).Config.Env;
    const added = changed('nats', ['Config', 'Env'], [...before, 'NATS_PASSWORD=x']);
    expect(told(situation(added))).toEqual(['nats make: was changed (its environment)']);
  });

  test('is made anew where its network or its files are gone', () => {
    for (const { Name } of plan.networks) {
      const inIt = plan.containers.filter(({ networks }) => networks.includes(Name));
      const anew = { networkIds: { ...networkIds, [Name]: 'another' } };
      expect(told(situation(undefined, anew))).toEqual(
        inIt.map(({ part }) => `${part.name} make: was in a network that was removed`),
      );
    }
    const lost = (container: ContainerPlan) => container.part.name !== 'runtime';
    expect(told(situation(undefined, { isGiven: lost }))).toEqual(['runtime make: had lost its files']);
  });
});
