import type { ContainerInspectInfo } from 'dockerode';
import type { ContainerPlan, DockerPlan } from './container-plan.ts';
import { driftOf } from './drift.ts';
import { labels } from './names.ts';

/** A container that exists under a planned name. */
export interface ExistingContainer
  extends Pick<ContainerInspectInfo, 'Id' | 'Image' | 'Config' | 'HostConfig' | 'NetworkSettings'> {
  readonly State: Pick<ContainerInspectInfo['State'], 'Running' | 'Paused' | 'Restarting'>;
}

/** What happens to one container. `why` follows the name of its part. */
export type ContainerStep =
  | { readonly kind: 'keep'; readonly container: ContainerPlan }
  | { readonly kind: 'start' | 'unpause'; readonly container: ContainerPlan; readonly why: string }
  /**
   * Also replaces an existing container. `byHand`: the reason is not svc.yaml. `isPeer`: the existing container runs and accepts the new
   * one in its cluster.
   */
  | {
      readonly kind: 'make';
      readonly container: ContainerPlan;
      readonly why: string | null;
      readonly byHand: boolean;
      readonly isPeer: boolean;
    };

export interface ReconcileInput {
  readonly present: ReadonlyMap<string, ExistingContainer>;
  /** Parts that ran after the last start. */
  readonly known: ReadonlySet<string>;
  /** Network ids by name. */
  readonly networkIds: Readonly<Record<string, string>>;
  /** The environment variables of images, by name. */
  readonly imageEnv: Readonly<Record<string, readonly string[]>>;
  /** Whether the files of a part exist unchanged. */
  readonly isGiven: (container: ContainerPlan) => boolean;
}

/** The steps that lead from the existing containers to the plan, in start order. */
export function reconcile({ containers }: DockerPlan, situation: ReconcileInput): readonly ContainerStep[] {
  return containers.map((container) => stepOf(container, situation));
}

function stepOf(container: ContainerPlan, situation: ReconcileInput): ContainerStep {
  const { part, options, image } = container;
  const found = situation.present.get(options.name);
  const make = { kind: 'make', container, isPeer: found !== undefined && isPeer(container, found) } as const;
  const byHand = (why: string) => ({ ...make, why, byHand: true });
  if (found === undefined) {
    return situation.known.has(part.name) ? byHand('was removed') : { ...make, why: null, byHand: false };
  }
  const wanted = options.Labels?.[labels.hash];
  const hash = found.Config.Labels?.[labels.hash];
  if (hash === undefined) return byHand('was replaced by a foreign container');
  if (hash !== wanted) return { ...make, why: null, byHand: false };
  const drift = driftOf(container, found, situation.imageEnv[image] ?? []);
  if (drift.length > 0) return byHand(`was changed (its ${drift.join(', its ')})`);
  if (container.networks.some((name) => isInAnother(name, found, situation)))
    return byHand('was in a network that was removed');
  if (!situation.isGiven(container)) return byHand('had lost its files');
  const { Paused, Restarting, Running } = found.State;
  if (Paused) return { kind: 'unpause', container, why: 'was paused' };
  if (Restarting) return byHand('kept ending');
  if (!Running) return { kind: 'start', container, why: 'was stopped' };
  return { kind: 'keep', container };
}

function isPeer({ options }: ContainerPlan, { Config, State }: ExistingContainer): boolean {
  const { Running, Paused, Restarting } = State;
  return Running && !Paused && !Restarting && Config.Labels?.[labels.peers] === options.Labels?.[labels.peers];
}

/** A network that was removed and made again has the same name and another id. */
function isInAnother(name: string, { NetworkSettings }: ExistingContainer, { networkIds }: ReconcileInput): boolean {
  const { NetworkID } = NetworkSettings.Networks[name] ?? {};
  // A container joins its networks when it first starts.
  return NetworkID !== undefined && NetworkID !== '' && NetworkID !== networkIds[name];
}
