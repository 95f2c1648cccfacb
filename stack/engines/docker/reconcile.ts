import { urlsOf } from '../../lifecycle/urls.ts';
import { changesBetween, type Settings, settingsOf } from '../../plan/differences.ts';
import type { ContainersRecord } from '../../state/containers-record.ts';
import type { ContainerPlan } from './container-plan.ts';
import type { DockerState } from './docker-state.ts';
import { containerNameOf, labels, volumesOf } from './names.ts';

/** What becomes of one container. A container that is made replaces the existing one. */
export interface ContainerStep {
  readonly kind: 'keep' | 'make';
  readonly container: ContainerPlan;
  /** The reason if it is not svc.yaml, in words that follow the name of the part. */
  readonly why: string | null;
}

/** What a start changes, compared with the state of Docker. */
export interface Decision {
  /** In start order. */
  readonly steps: readonly ContainerStep[];
  /** Differences in svc.yaml since the last start, one line each; null where nothing ran. */
  readonly changes: readonly string[] | null;
  /** Whether no container of the platform exists. */
  readonly isFresh: boolean;
  /** Whether every container is as planned. Its health is checked later. */
  readonly isSame: boolean;
  /** The record to write. */
  readonly record: ContainersRecord;
}

/** Compares the plan with the containers that exist. */
export function reconcile(state: DockerState): Decision {
  const { before, wanted, present, extra } = state;
  const settings = settingsIn(state);
  const known = new Set(before?.isUp ? before.services.map(({ name }) => name) : []);
  const steps = stepsOf(wanted, { present, known });
  return {
    steps,
    changes: before?.isUp ? changesBetween(before.settings, settings) : null,
    isFresh: present.size === 0,
    isSame: before?.isUp === true && extra.size === 0 && steps.every(({ kind }) => kind === 'keep'),
    record: recordOf(state, settings),
  };
}

interface Existing extends Pick<DockerState, 'present'> {
  /** Parts that ran after the last start. */
  readonly known: ReadonlySet<string>;
}

export function stepsOf(containers: readonly ContainerPlan[], existing: Existing): readonly ContainerStep[] {
  return containers.map((container) => stepOf(container, existing));
}

function stepOf(container: ContainerPlan, { present, known }: Existing): ContainerStep {
  const { part, options } = container;
  const found = present.get(options.name);
  const make = (why: string | null) => ({ kind: 'make', container, why }) as const;
  if (found === undefined) return make(known.has(part.name) ? 'was removed' : null);
  if (found.Config.Labels[labels.hash] !== options.Labels?.[labels.hash]) return make(null);
  const { Paused, Restarting, Running } = found.State;
  if (Paused) return make('was paused');
  if (Restarting) return make('kept ending');
  if (!Running) return make('was stopped');
  return { kind: 'keep', container, why: null };
}

/** Settings of a container that are no variables. */
function settingsIn({ plan, planned }: DockerState): Settings {
  const own = planned.flatMap(({ part, image, options: { User, HostConfig } }) => [
    [`${part.name} image`, image],
    [`${part.name} user`, User ?? ''],
    [`${part.name} memory`, String(HostConfig?.Memory)],
    [`${part.name} published`, JSON.stringify(HostConfig?.PortBindings)],
  ]);
  return { ...settingsOf(plan), ...Object.fromEntries(own) };
}

function recordOf({ before, plan, daemon, images, user }: DockerState, settings: Settings): ContainersRecord {
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
    images,
    volumes: [...volumesOf(plan)],
    filling: before?.filling ?? [],
    user,
  };
}
