import type { ContainerInspectInfo } from 'dockerode';

/** Ports of this machine that containers have. */
export function portsHeldBy(found: readonly Pick<ContainerInspectInfo, 'HostConfig'>[]): ReadonlySet<number> {
  const bindings = found.flatMap(({ HostConfig }) => Object.values(HostConfig.PortBindings ?? {}));
  return new Set(bindings.flatMap((list: unknown) => hostPorts(list)));
}

function hostPorts(list: unknown): number[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'HostPort' in one ? [Number(one.HostPort)] : [],
  );
}
