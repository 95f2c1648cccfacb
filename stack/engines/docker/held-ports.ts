import type { ContainerInspectInfo } from 'dockerode';

interface Published extends Pick<ContainerInspectInfo, 'HostConfig'> {
  readonly State: Pick<ContainerInspectInfo['State'], 'Running'>;
}

/** Ports of this machine that running containers have. A stopped container has none: another program may have taken its port. */
export function portsHeldBy(found: readonly Published[]): ReadonlySet<number> {
  const running = found.filter(({ State }) => State.Running);
  const bindings = running.flatMap(({ HostConfig }) => Object.values(HostConfig.PortBindings ?? {}));
  return new Set(bindings.flatMap((list: unknown) => hostPorts(list)));
}

function hostPorts(list: unknown): number[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'HostPort' in one ? [Number(one.HostPort)] : [],
  );
}
