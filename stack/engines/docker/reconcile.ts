import type { ContainerInspectInfo } from 'dockerode';
import { urlsOf } from '../../lifecycle/urls.ts';
import { changesBetween, type Settings, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { fingerprintOf, readSecret } from '../../secrets/secrets.ts';
import { hasOwnGraph } from '../../settings/definition.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { EngineStart, PartNames } from '../engine.ts';
import { type ContainerPlan, containerPlansOf } from './container-plan.ts';
import { inspectContainers } from './container-state.ts';
import type { OwnDaemon } from './daemon.ts';
import { ensurePlanImages, serviceImageOn } from './images.ts';
import { describeLostVolume } from './lost-volumes.ts';
import { containerNameOf, labels, volumesOf } from './names.ts';
import { ensureNetworks, networkOf, networkPlansOf, subnetOf } from './network.ts';
import { listVolumes } from './volumes.ts';

/** A plan compared with what the daemon has, and what a start changes. */
export interface Reconciliation {
  readonly plan: Plan;
  readonly daemon: OwnDaemon;
  /** The record of the last start. */
  readonly before: ContainersRecord | null;
  /** In start order, without nodes of Dgraph that lost their volumes. */
  readonly steps: readonly ContainerStep[];
  /** The existing containers of the plan, by name. */
  readonly present: ReadonlyMap<string, ContainerInspectInfo>;
  /** Containers of parts that the plan no longer has. */
  readonly extra: readonly ContainerInspectInfo[];
  /** Volumes that may not belong to the user of the containers. */
  readonly foreign: readonly string[];
  /** Differences in svc.yaml since the last start, one line each; null where nothing ran. */
  readonly changes: readonly string[] | null;
  /** Whether no container of the platform exists. */
  readonly isFresh: boolean;
  /** The record to write. */
  readonly record: ContainersRecord;
}

/** What becomes of one container. A container that is made or restarts replaces the existing one. */
export interface ContainerStep {
  readonly kind: 'keep' | 'restart' | 'make';
  readonly container: ContainerPlan;
  /** The reason if it is not svc.yaml, in words that follow the name of the part. */
  readonly why: string | null;
}

interface Reading extends Pick<EngineStart, 'env' | 'signal' | 'onNotice'> {
  readonly restart: PartNames;
  /** Whether the parts run for one command, without the rest of the platform. */
  readonly runsAlone: boolean;
}

/** Makes missing images and networks first: the plan of the containers depends on them, and no part notices. */
export async function reconcile(plan: Plan, daemon: OwnDaemon, reading: Reading): Promise<Reconciliation> {
  const { definition, installation } = plan;
  const { docker, user } = daemon;
  const { onNotice, restart, runsAlone } = reading;
  const before = readContainers(installation);
  const images = await ensurePlanImages(plan, { ...reading, docker });
  for (const [name, id] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id) onNotice(`The image ${name} has changed: ${known} → ${id}.`);
  }
  await ensureNetworks(docker, networkPlansOf(definition));
  const admins = hasOwnGraph(definition) ? await subnetOf(docker, networkOf('graph', definition)) : '';
  const serviceImage = serviceImageOn(definition.images.base);
  const facts = { user, serviceImage, images, runsAlone, fingerprintOf, readSecret, admins };
  const planned = containerPlansOf(plan, facts);
  const there = await listVolumes(docker, definition.id);
  const wanted = planned.filter(({ part }) => describeLostVolume(part.name, before, there) === null);
  const found = await inspectContainers(docker, definition.id);
  const names = new Set(wanted.map(({ options }) => options.name));
  const present = new Map([...found].filter(([name]) => names.has(name)));
  const ran = new Set(before?.isUp ? before.services.map(({ name }) => name) : []);
  const settings = { ...settingsOf(plan), ...settingsIn(planned) };
  const volumes = wanted.flatMap(({ volume }) => volume ?? []);
  return {
    ...{ plan, daemon, before, present },
    steps: wanted.map((one) => {
      const step = stepOf(one, present.get(one.options.name), ran.has(one.part.name));
      return step.kind === 'keep' && restart.has(one.part.name) ? { ...step, kind: 'restart' } : step;
    }),
    extra: [...found].flatMap(([name, one]) => (names.has(name) ? [] : [one])),
    foreign: foreignVolumes(volumes, { before, there, user }),
    changes: before?.isUp ? changesBetween(before.settings, settings) : null,
    isFresh: present.size === 0,
    record: { ...recordOf(plan, daemon), settings, images, user },
  };
}

export function stepOf(container: ContainerPlan, found: ContainerInspectInfo | undefined, ran: boolean): ContainerStep {
  const make = (why: string | null) => ({ kind: 'make', container, why }) as const;
  if (found === undefined) return make(ran ? 'was removed' : null);
  if (found.Config.Labels[labels.hash] !== container.options.Labels?.[labels.hash]) return make(null);
  const { Paused, Restarting, Running } = found.State;
  if (Paused) return make('was paused');
  if (Restarting) return make('kept ending');
  if (!Running) return make('was stopped');
  return { kind: 'keep', container, why: null };
}

interface OwnedVolumes {
  readonly before: Pick<ContainersRecord, 'user' | 'volumes'> | null;
  readonly there: ReadonlySet<string>;
  readonly user: string;
}

/** The others stay untouched, because running parts write to them. */
export function foreignVolumes(wanted: readonly string[], { before, there, user }: OwnedVolumes): readonly string[] {
  const handedOver = before?.user === user ? before.volumes : [];
  return wanted.filter((name) => !handedOver.includes(name) || !there.has(name));
}

/** Settings of containers that are no variables. */
function settingsIn(planned: readonly ContainerPlan[]): Settings {
  const own = planned.flatMap(({ part, options: { Image, User, HostConfig } }) => [
    [`${part.name} image`, Image],
    [`${part.name} user`, User ?? ''],
    [`${part.name} memory`, String(HostConfig?.Memory)],
    [`${part.name} published`, JSON.stringify(HostConfig?.PortBindings)],
  ]);
  return Object.fromEntries(own);
}

function recordOf({ definition, addresses, version, parts }: Plan, { id, socket }: OwnDaemon) {
  return {
    isUp: true,
    version,
    daemon: { id, socket },
    urls: { ...urlsOf(addresses), runtime: parts.find(({ service }) => service === 'runtime')?.url ?? '' },
    services: parts.map(({ name, published, url }) => ({
      ...{ name, container: containerNameOf(name, definition) },
      url: published.length > 0 ? url : null,
    })),
    volumes: [...volumesOf({ parts, definition })],
  };
}
