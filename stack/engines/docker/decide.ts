import { urlsOf } from '../../lifecycle/urls.ts';
import { changesBetween, type Settings, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ContainersRecord } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { DockerPlan } from './container-plan.ts';
import type { DockerState } from './docker-state.ts';
import { isGiven } from './given-files.ts';
import { containerNameOf } from './names.ts';
import { type ContainerStep, reconcile } from './reconcile.ts';

/** What a start changes, compared with the state of Docker. */
export interface Decision {
  readonly steps: readonly ContainerStep[];
  /** Differences in svc.yaml since the last start, one line each; null where nothing ran. */
  readonly changes: readonly string[] | null;
  /** Changes that were made by hand, one line each. */
  readonly byHand: readonly string[];
  /** Whether no container of the platform exists. */
  readonly isFresh: boolean;
  /** Whether every container is as planned. Its health is checked later. */
  readonly isSame: boolean;
  /** The record to write. */
  readonly record: ContainersRecord;
}

export function decide(installation: Installation, state: DockerState): Decision {
  const { before, plan, planned, wanted, present, extra, networks, images } = state;
  const settings = settingsIn(plan, planned);
  const steps = reconcile(wanted, {
    present,
    known: new Set(before?.isUp ? before.services.map(({ name }) => name) : []),
    networkIds: Object.fromEntries(Object.entries(networks).map(([name, { id }]) => [name, id])),
    imageEnv: Object.fromEntries(Object.entries(images).map(([name, { env }]) => [name, env])),
    isGiven: (container) => isGiven(installation, container),
  });
  return {
    steps,
    changes: before?.isUp ? changesBetween(before.settings, settings) : null,
    byHand: steps.flatMap(toldOf),
    isFresh: present.size === 0,
    isSame: before?.isUp === true && extra.length === 0 && steps.every(({ kind }) => kind === 'keep'),
    record: recordOf(state, settings),
  };
}

function toldOf(step: ContainerStep): readonly string[] {
  if (step.kind === 'keep' || step.why === null) return [];
  const mended = step.kind === 'make' ? 'it is replaced' : 'it continues';
  return [`${step.container.part.name} ${step.why}: ${mended}.`];
}

/** Settings of a container that are no variables. */
function settingsIn(plan: Plan, { containers }: DockerPlan): Settings {
  const own = containers.flatMap(({ part, image, options: { User, HostConfig } }) => [
    [`${part.name} image`, image],
    [`${part.name} user`, User ?? ''],
    [`${part.name} memory`, String(HostConfig?.Memory)],
    [`${part.name} published`, JSON.stringify(HostConfig?.PortBindings)],
  ]);
  return { ...settingsOf(plan), ...Object.fromEntries(own) };
}

function recordOf({ before, plan, daemon, planned, images, user }: DockerState, settings: Settings): ContainersRecord {
  const { definition, addresses, version } = plan;
  return {
    isUp: true,
    version,
    daemon: { id: daemon.id, socket: daemon.socket },
    settings,
    urls: { ...urlsOf(addresses), runtime: plan.parts.find(({ service }) => service === 'runtime')?.url ?? '' },
    services: plan.parts.map((part) => {
      const isReached = part.published.length > 0;
      return { name: part.name, container: containerNameOf(part.name, definition), url: isReached ? part.url : null };
    }),
    images: Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id])),
    volumes: [...planned.volumes],
    filling: before?.filling ?? [],
    user,
  };
}
