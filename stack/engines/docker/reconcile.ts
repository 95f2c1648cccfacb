import type { ContainerInspectInfo } from 'dockerode';
import type { ContainerPlan, DockerPlan } from './container-plan.ts';
import { driftOf } from './drift.ts';
import { labels } from './names.ts';

/** What is there under the name of a container. */
export interface Present
  extends Pick<ContainerInspectInfo, 'Id' | 'Image' | 'Config' | 'HostConfig' | 'NetworkSettings'> {
  readonly State: Pick<ContainerInspectInfo['State'], 'Running' | 'Paused' | 'Restarting'>;
}

/** What becomes of one container. `why` follows the name of its part. */
export type Step =
  | { readonly kind: 'keep'; readonly container: ContainerPlan }
  | { readonly kind: 'start' | 'unpause'; readonly container: ContainerPlan; readonly why: string }
  /**
   * Also where there is one, which is then removed. `byHand`: not svc.yaml is the reason. `isPeer`: that one runs, and speaks with what is made
   * anew of its kind.
   */
  | {
      readonly kind: 'make';
      readonly container: ContainerPlan;
      readonly why: string | null;
      readonly byHand: boolean;
      readonly isPeer: boolean;
    };

export interface Situation {
  readonly present: ReadonlyMap<string, Present>;
  /** Parts that ran when `svc` was last here. */
  readonly known: ReadonlySet<string>;
  /** Ids of networks by their names. */
  readonly networkIds: Readonly<Record<string, string>>;
  /** The environment that images bring, by name. */
  readonly imageEnv: Readonly<Record<string, readonly string[]>>;
  /** Whether the files that a part is given are there. */
  readonly isGiven: (container: ContainerPlan) => boolean;
}

/** What has to be done so that Docker has what the plan says, container by container in the order of their start. */
export function reconcile({ containers }: DockerPlan, situation: Situation): readonly Step[] {
  return containers.map((container) => stepOf(container, situation));
}

function stepOf(container: ContainerPlan, situation: Situation): Step {
  const { part, options, image } = container;
  const found = situation.present.get(options.name);
  const make = { kind: 'make', container, isPeer: found !== undefined && isPeer(container, found) } as const;
  const byHand = (why: string) => ({ ...make, why, byHand: true });
  if (found === undefined) {
    return situation.known.has(part.name) ? byHand('was removed') : { ...make, why: null, byHand: false };
  }
  const wanted = options.Labels?.[labels.hash];
  const hash = found.Config.Labels?.[labels.hash];
  if (hash === undefined) return byHand('was replaced by a container that is not ours');
  if (hash !== wanted) return { ...make, why: null, byHand: false };
  const drift = driftOf(container, found, situation.imageEnv[image] ?? []);
  if (drift.length > 0) return byHand(`was changed (its ${drift.join(', its ')})`);
  if (container.networks.some((name) => isInAnother(name, found, situation)))
    return byHand('was in a network that is no more');
  if (!situation.isGiven(container)) return byHand('had lost the files that it is given');
  const { Paused, Restarting, Running } = found.State;
  if (Paused) return { kind: 'unpause', container, why: 'was paused' };
  if (Restarting) return byHand('ended again and again');
  if (!Running) return { kind: 'start', container, why: 'was stopped' };
  return { kind: 'keep', container };
}

function isPeer({ options }: ContainerPlan, { Config, State }: Present): boolean {
  const { Running, Paused, Restarting } = State;
  return Running && !Paused && !Restarting && Config.Labels?.[labels.peers] === options.Labels?.[labels.peers];
}

/** A network that was removed and made again has its name and another id. */
function isInAnother(name: string, { NetworkSettings }: Present, { networkIds }: Situation): boolean {
  const { NetworkID } = NetworkSettings.Networks[name] ?? {};
  // A container that never ran has not joined it yet.
  return NetworkID !== undefined && NetworkID !== '' && NetworkID !== networkIds[name];
}
