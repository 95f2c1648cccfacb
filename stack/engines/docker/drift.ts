import type { ContainerInspectInfo } from 'dockerode';
import type { ContainerPlan } from './container-plan.ts';

/** A container that exists, as Docker describes it. */
export type InspectedContainer = Pick<
  ContainerInspectInfo,
  'Id' | 'Image' | 'Config' | 'HostConfig' | 'NetworkSettings'
>;

/**
 * The properties in which a container differs from its plan although its label matches: it was changed or replaced by hand. In words that
 * follow "its"; empty where nothing differs.
 */
export function driftOf(
  { options, image, networks }: ContainerPlan,
  found: InspectedContainer,
  imageEnv: readonly string[],
): readonly string[] {
  const { HostConfig: wanted } = options;
  const { Config: config, HostConfig: host } = found;
  const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
    image: [image, config.Image],
    user: [options.User, config.User],
    command: [
      [options.Entrypoint, options.Cmd],
      [config.Entrypoint, config.Cmd ?? []],
    ],
    environment: [sorted(options.Env), sorted(config.Env.filter((entry) => !isOfImage(entry, imageEnv, options.Env)))],
    'health check': [options.Healthcheck?.Test, config.Healthcheck?.Test],
    'files and volumes': [
      [wanted?.Binds, []],
      [host.Binds ?? [], host.Mounts ?? []],
    ],
    networks: [sorted(networks), sorted(Object.keys(found.NetworkSettings.Networks))],
    ports: [wanted?.PortBindings, host.PortBindings ?? {}],
    'restart policy': [wanted?.RestartPolicy?.Name, host.RestartPolicy?.Name],
    'root file system': [wanted?.ReadonlyRootfs, host.ReadonlyRootfs],
    'temporary folder': [wanted?.Tmpfs, host.Tmpfs],
    privileges: [
      [wanted?.CapDrop, wanted?.CapAdd, wanted?.SecurityOpt, false],
      [host.CapDrop, host.CapAdd ?? [], host.SecurityOpt, host.Privileged],
    ],
    'limit of memory': [wanted?.Memory, host.Memory],
    'limit of processes': [wanted?.PidsLimit, host.PidsLimit],
    'limit of logs': [wanted?.LogConfig, host.LogConfig],
  };
  return Object.entries(pairs).flatMap(([what, [ours, theirs]]) =>
    JSON.stringify(inOrder(ours)) === JSON.stringify(inOrder(theirs)) ? [] : [what],
  );
}

/** Docker adds the environment of the image to that of the container. */
function isOfImage(entry: string, imageEnv: readonly string[], ours: readonly string[] = []): boolean {
  return imageEnv.includes(entry) && !ours.includes(entry);
}

function sorted(entries: readonly string[] = []): readonly string[] {
  return [...entries].sort();
}

/** Sorts the keys, because Docker keeps no order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, inOrder(inner)]),
  );
}
